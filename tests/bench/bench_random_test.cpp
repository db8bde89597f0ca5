// SPDX-License-Identifier: Apache-2.0
// The suite `random` without a GPU: which samples pass for normals, the kernels of its walks compile, and
// kernels that do nothing give no results.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/suites/curand_device.h"
#include "bench/suites/random.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "kernels/shocks.h"
#include "tests/fake_device.h"
#include "tests/known_kernels.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench::bench_random_test {
namespace {

std::vector<double> some_normals(std::size_t count) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(kernels::norm_inv((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
    return out;
}

TEST(bench_random_normals, are_known_by_mean_and_variance) {
    const auto good = some_normals(100000);
    EXPECT_EQ(normals::why_not_normal(good), "");
    const auto spoilt = [&](const auto& spoil) {
        auto x = good;
        for (double& z : x) z = spoil(z);
        return normals::why_not_normal(x);
    };
    EXPECT_NE(spoilt([](double z) { return z + 0.02; }), "");
    EXPECT_NE(spoilt([](double z) { return z * 1.02; }), "");
    EXPECT_NE(spoilt([](double z) { return z * 0.98; }), "");
    EXPECT_NE(spoilt([](double) { return 0.0; }), "");
    EXPECT_NE(spoilt([](double) { return std::nan(""); }), "");
}

TEST(bench_random_normals, fit_into_memory) {
    EXPECT_EQ(normals::paths_for(1 << 20, 64, std::size_t{70} << 30), 1u << 20);
    EXPECT_EQ(normals::paths_for(1 << 20, 64, std::size_t{2} << 30), 1u << 20);
    EXPECT_EQ(normals::paths_for(1 << 20, 64, (std::size_t{2} << 30) - 1), 1u << 19);
    EXPECT_EQ(normals::paths_for(1 << 20, 64, 0), 1024u);
}

TEST(bench_random_normals, are_walked_by_an_asian_of_252_fixings) {
    for (const auto p : {program::precision::single_fast, program::precision::double_}) {
        const auto in_registers = normals::inline_asian(p), streamed = normals::streamed_asian(p);
        EXPECT_EQ(in_registers.trade.when.steps(), 252u);
        EXPECT_EQ(in_registers.code.normals_per_step, 1);
        EXPECT_EQ(in_registers.how.feed, "inline");
        EXPECT_EQ(streamed.how.feed, "smem_rolling_async");
        EXPECT_EQ(streamed.how[cuda::knobs::width] * (p == program::precision::double_ ? 8 : 4), 16)
            << "bytes of a copy";
        EXPECT_EQ(streamed.how.layout(), kernels::ring_layout::transposed);
    }
}

TEST(bench_random_normals, are_walked_by_kernels_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const auto p : {program::precision::single_fast, program::precision::double_}) {
        for (const auto& planned : {normals::inline_asian(p), normals::streamed_asian(p)}) {
            for (const char* architecture : {"sm_80", "sm_90"}) {
                const auto got = tests::facts_of({planned.text(), architecture});
                EXPECT_TRUE(got.is_in_registers()) << planned.how.feed << '\n' << got;
            }
        }
    }
}

// The kernel that starts cuRAND's states multiplies matrices in an indexed array: it has a stack frame, but
// no spills. Timed kernels have neither. Each is compiled for one architecture, by turns.
TEST(bench_random_normals, of_curand_are_made_by_kernels_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    cuda::toolkit_headers headers;
    try {
        headers = normals::curand_headers(cuda::toolkit_header_folders(cuda::nvrtc_folder()));
    } catch (const error& e) {
        GTEST_SKIP() << e.what();
    }
    std::size_t turn = 0;
    for (const std::string& text : normals::curand_texts()) {
        const bool is_timed = text.find(" set_up(") == std::string::npos;
        const char* const architecture = turn++ % 2 == 0 ? "sm_90" : "sm_80";
        const auto got = tests::facts_of({text, architecture, headers});
        EXPECT_GT(got.kernels, 0) << architecture << '\n' << text << got;
        EXPECT_EQ(got.spill_stores + got.spill_loads, 0) << architecture << '\n' << text << got;
        EXPECT_TRUE(got.stack_bytes == 0 || !is_timed) << architecture << '\n' << text << got;
    }
}

TEST(bench_random_normals, of_kernels_that_do_nothing_are_wrong) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->memory_bytes = std::size_t{128} << 20;
    cuda::text_compiler compiler;
    cuda::kernel_store store(compiler, {});
    gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                 open_clocks(""), {0.5, 1, 1, 0});
    std::set<std::string> keys;
    int wrong = 0, not_measured = 0;
    suite_named("random").run(on, {}, [&](row r) {
        EXPECT_FALSE(r.is_result()) << key_of(r);
        EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
        wrong += r.wrong.empty() ? 0 : 1;
        if (!r.skipped.empty()) ++not_measured;
    });
    // Expected rows: each source in two precisions, the approximate one, cuRAND's generators in kernels,
    // three walks in two precisions, and a lone trade of four lengths in two ways and three precisions.
    EXPECT_EQ(keys.size(),
              2 * random::catalogue().size() + 1 + 2 * normals::device_generators().size() + 6 + 3 * 2 * 4);
    EXPECT_GE(wrong, 2 + 1 + 4 + 24) << "our own, the walks, and lone trades";
    EXPECT_GE(not_measured, 2);
    EXPECT_EQ(gpu->faults, std::vector<std::string>{});
}

}  // namespace
}  // namespace tilewalk::bench::bench_random_test
