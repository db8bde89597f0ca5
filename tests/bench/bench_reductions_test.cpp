// SPDX-License-Identifier: Apache-2.0
// The suite `reductions` (sums of payoffs) without a GPU: its expected values, its rule for equality, its
// kernels, and that kernels that do nothing give no results.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/suites/reductions.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "tests/benched.h"
#include "tests/fake_device.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench::bench_reductions_test {
namespace {

using kernels::tile_result;

std::vector<double> some_payoffs(std::size_t count) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(std::sin(static_cast<double>(i) * 0.37) + 0.2);
    return out;
}

TEST(bench_reductions_reductions, have_the_closed_form_of_black_and_scholes) {
    // Black-Scholes call of the textbooks for S = K = 100, r = 5 %, volatility 20 %, one year.
    EXPECT_NEAR(reductions::closed_form(), 10.450583572185565, 1e-12);
}

TEST(bench_reductions_reductions, walk_the_trade_of_the_closed_form) {
    const auto w = reductions::cheap_walk(cuda::reductions().front());
    EXPECT_EQ(w.trade.when.steps(), 1u);
    EXPECT_EQ(w.code.normals_per_step, 1);
    EXPECT_EQ(w.how.feed, "inline");
}

TEST(bench_reductions_reductions, sum_on_the_host_in_the_tree_of_tiles) {
    const auto payoffs = some_payoffs(3 * 1024);
    double sum = 0, squares = 0;
    for (const double x : payoffs) sum += x;
    const double mean = sum / 3072;
    for (const double x : payoffs) squares += (x - mean) * (x - mean);
    const tile_result all = reductions::on_host(payoffs);
    EXPECT_EQ(all.moments.count, 3072);
    EXPECT_NEAR(all.moments.mean, mean, 1e-14);
    EXPECT_NEAR(all.moments.m2, squares, 1e-10);
    EXPECT_NEAR(estimate_of(all).standard_error, std::sqrt(squares / 3071 / 3072), 1e-12);
}

TEST(bench_reductions_reductions, are_alike_by_bits_or_by_rounding) {
    const tile_result tree = reductions::on_host(some_payoffs(4096));
    const auto spoilt = [&](const auto& spoil) {
        tile_result out = tree;
        spoil(out);
        return out;
    };
    const auto rounded = spoilt([](tile_result& r) { r.moments.mean = std::nextafter(r.moments.mean, 1); });
    EXPECT_TRUE(reductions::same_bits(tree, tree));
    EXPECT_FALSE(reductions::same_bits(tree, rounded));
    EXPECT_EQ(reductions::why_not_alike(tree, tree, true), "");
    EXPECT_NE(reductions::why_not_alike(rounded, tree, true), "");
    EXPECT_EQ(reductions::why_not_alike(rounded, tree, false), "");
    for (const auto& other : {spoilt([](tile_result& r) { r.moments.mean += 1e-9; }),
                              spoilt([](tile_result& r) { r.moments.count -= 1; }),
                              spoilt([](tile_result& r) { r.moments.m2 *= 1 + 1e-8; }),
                              spoilt([](tile_result& r) { r.not_finite = 1; }),
                              spoilt([](tile_result& r) { r.moments.mean = std::nan(""); }),
                              spoilt([](tile_result& r) { r.moments.m2 = std::nan(""); })}) {
        EXPECT_NE(reductions::why_not_alike(other, tree, false), "");
    }
}

TEST(bench_reductions_reductions, alone_compile_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const auto& by : cuda::reductions()) {
        if (by.stores_payoffs) continue;
        for (const char* architecture : {"sm_80", "sm_90"}) {
            expect_clean(reductions::reduce_text(by), architecture);
        }
    }
}

TEST(bench_reductions_reductions, of_kernels_that_do_nothing_are_wrong) {
    for (const bool has_cub : {true, false}) {
        const auto gpu = std::make_shared<cuda::fake_gpu>();
        gpu->properties.reduces_stored = has_cub;
        cuda::text_compiler compiler;
        cuda::kernel_store store(compiler, {});
        gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                     open_clocks(""), {0.5, 1, 1, 0});
        std::set<std::string> keys;
        suite_named("reductions").run(on, {}, [&](row r) {
            EXPECT_FALSE(r.is_result()) << key_of(r);
            EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
            const bool is_refused = r.axes["reduction"] == "store" && !has_cub;
            EXPECT_EQ(r.skipped.empty(), !is_refused) << key_of(r) << r.skipped;
            EXPECT_EQ(r.wrong.empty(), is_refused) << key_of(r) << r.wrong;
        });
        EXPECT_EQ(keys.size(), 7 * 2 * cuda::reductions().size());
        EXPECT_EQ(gpu->faults, std::vector<std::string>{});
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_reductions_test
