// SPDX-License-Identifier: Apache-2.0
// For tests of benchmark suites: rows of a suite on a GPU, real or fake, and the check that kernels compile
// without spills. Times are ignored.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "tests/fake_device.h"
#include "tests/known_kernels.h"

namespace tilewalk {

using suite_function = void (*)(bench::gpu_timer&, const bench::request&, const bench::sink&);

// The rows of a suite on this device. Takes the fewest samples, because tests look at each row's check alone.
inline std::vector<bench::row> rows_of(suite_function suite, std::unique_ptr<cuda::device> on,
                                       cuda::compiler& with) {
    cuda::kernel_store store(with, {});
    const std::string uuid = on->properties().uuid;
    bench::gpu_timer bench(std::make_shared<cuda::loaded_device>(std::move(on)), store,
                           bench::open_clocks(uuid), {1.0, 1, 3, 0});
    std::vector<bench::row> rows;
    suite(bench, {}, [&](bench::row r) { rows.push_back(std::move(r)); });
    return rows;
}

// The rows of a suite on a fake GPU; collects in `compiled` the text of every kernel it compiles.
inline std::vector<bench::row> rows_on_fake(suite_function suite, const std::shared_ptr<cuda::fake_gpu>& gpu,
                                            std::set<std::string>* compiled = nullptr) {
    cuda::text_compiler compiler;
    std::mutex lock;
    compiler.refuses = [&](const std::string& text) {
        const std::lock_guard guard(lock);
        if (compiled != nullptr) compiled->insert(text);
        return false;
    };
    gpu->kernel = [](const std::string&, const std::string&, const cuda::launch&, std::span<void*>) {
        return [] {};
    };
    return rows_of(suite, std::make_unique<cuda::fake_device>(gpu), compiler);
}

// Opens a GPU. Null if there is none, which is a failure where TILEWALK_REQUIRE_GPU is set.
inline std::unique_ptr<cuda::device> some_gpu() {
    const cuda::device_survey survey = cuda::survey_devices();
    std::string why = survey.why_none;
    for (const auto& d : survey.devices) {
        if (d.why_not.empty()) return cuda::open_device(d.properties.index);
        why += d.why_not + "\n";
    }
    EXPECT_EQ(std::getenv("TILEWALK_REQUIRE_GPU"), nullptr) << why;
    return nullptr;
}

// Compiles the text and expects no warning, no spill, and a stack frame of `stack_bytes`, which is 0 unless a
// frame is what the kernel studies. `words` are counted as by `facts_of`.
inline tests::kernel_facts expect_clean(const std::string& text, const std::string& architecture,
                                        int stack_bytes = 0, const std::vector<std::string>& words = {}) {
    tests::kernel_facts got = tests::facts_of({text, architecture}, words);
    EXPECT_GT(got.kernels, 0) << architecture << '\n' << text << got;
    EXPECT_EQ(got.stack_bytes, stack_bytes) << architecture << '\n' << text << got;
    EXPECT_EQ(got.spill_stores + got.spill_loads, 0) << architecture << '\n' << text << got;
    EXPECT_EQ(got.warnings, 0) << architecture << '\n' << text << got;
    return got;
}

}  // namespace tilewalk
