// SPDX-License-Identifier: Apache-2.0
// The sums of points in the suite `random`: their kernels' text built for the host gives the bits of the CPU,
// a kernel that leaves other sums, or none, makes a wrong row, and kernels compile into registers.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "bench/suites/point_sums.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/loaded_device.h"
#include "tests/benched.h"
#include "tests/fake_device.h"
#include "tests/host_kernel.h"

namespace tilewalk::bench {
namespace {

using arrays::element;
using kernels::studies::point_sums_job;

// Spoils what the kernel of a text has summed.
using mistake = std::function<void(const std::string& text, const point_sums_job& a)>;

// A device whose kernels are built for the host.
std::shared_ptr<cuda::fake_gpu> gpu_of_host(const mistake& spoil) {
    auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->properties.l2_bytes = 0;
    gpu->properties.multiprocessors = 1;
    gpu->kernel = [spoil, all = tests::host_kernels()](const std::string& text, const std::string& name,
                                                       const cuda::launch& how,
                                                       std::span<void*> arguments) -> cuda::fake_gpu::work {
        if (name == "fill")
            return all.launched<kernels::points_arguments>(text, name, how.blocks, how.threads, arguments);
        const auto sum = all.launched<point_sums_job>(text, name, how.blocks, how.threads, arguments);
        return [=, job = *static_cast<const point_sums_job*>(arguments[0])] {
            sum();
            spoil(text, job);
        };
    };
    return gpu;
}

// Rows by points, dimensions and precision.
std::map<std::string, row> rows_with(const mistake& spoil) {
    const auto gpu = gpu_of_host(spoil);
    cuda::text_compiler compiler;
    cuda::kernel_store store(compiler, {});
    gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                 open_clocks(""), {1.0, 1, 1, 0});
    // A warp knows 32 at a time.
    constexpr std::array<kernels::word32, 2> dimensions{1, 33};
    std::map<std::string, row> out;
    normals::measure_point_sums(on, dimensions, 1 << 10, [&](row r) {
        out[r.axes.at("points").get<std::string>() + ' ' + r.axes.at("dimensions").dump() + ' ' +
            r.axes.at("precision").get<std::string>()] = r;
    });
    EXPECT_EQ(gpu->faults, std::vector<std::string>{});
    EXPECT_EQ(out.size(), 12u);
    return out;
}

void leave(const std::string& text, const point_sums_job& a, std::uint64_t path, double sum) {
    if (text.find("double") != std::string::npos) {
        static_cast<double*>(a.sums)[path] = sum;
    } else {
        static_cast<float*>(a.sums)[path] = static_cast<float>(sum);
    }
}

}  // namespace

TEST(point_sums, are_those_of_the_cpu_however_they_are_made) {
    for (const auto& [name, r] : rows_with([](const std::string&, const point_sums_job&) {})) {
        EXPECT_TRUE(r.is_result()) << name << r.wrong << r.skipped;
        EXPECT_GT(r.figures.at("picoseconds_per_normal").get<double>(), 0) << name;
        EXPECT_EQ(r.figures.contains("fill_milliseconds"), name.starts_with("cube")) << name;
        EXPECT_EQ(r.figures.contains("ratio"), !name.starts_with("cube")) << name;
    }
}

TEST(point_sums, on_a_gpu_are_those_of_the_cpu) {
    auto gpu = some_gpu();
    if (gpu == nullptr) GTEST_SKIP() << "no GPU";
    const auto few_paths = [](gpu_timer& on, const request&, const sink& to) {
        constexpr std::array<kernels::word32, 2> dimensions{1, 12};
        normals::measure_point_sums(on, dimensions, 1 << 12, to);
    };
    const auto rows = rows_of(few_paths, std::move(gpu), cuda::nvrtc_compiler());
    EXPECT_EQ(rows.size(), 12u);
    for (const row& r : rows) EXPECT_TRUE(r.is_result()) << key_of(r) << r.wrong << r.skipped;
}

// The last path is beyond those that the CPU sums, too.
TEST(point_sums, are_wrong_where_one_is_another_or_is_left_out) {
    const auto rows = rows_with([](const std::string& text, const point_sums_job& a) {
        if (text.find("sum_made") != std::string::npos) {
            leave(text, a, 3, 0.25);
        } else {
            leave(text, a, a.points.into.paths - 1, std::numeric_limits<double>::quiet_NaN());
        }
    });
    for (const auto& [name, r] : rows) {
        EXPECT_EQ(r.wrong,
                  name.starts_with("registers") ? "other bits than by the CPU" : "paths without a sum")
            << name;
    }
}

TEST(point_sums, are_made_by_kernels_that_keep_all_in_registers) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const char* architecture : {"sm_80", "sm_90"}) {
        for (const std::string& text : normals::texts_of_point_sums()) {
            const auto got = cuda::nvrtc_compiler().compile({text, architecture});
            EXPECT_NE(got.log.find(" 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
                      std::string::npos)
                << got.log;
        }
    }
}

}  // namespace tilewalk::bench
