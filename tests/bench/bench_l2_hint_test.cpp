// SPDX-License-Identifier: Apache-2.0
// The suite l2_hint (load qualifiers that prefetch into L2): its kernels contain the qualifier they are named
// for, its expected sums are right, and a kernel that computes something else gives no result.
#include "bench/suites/l2_hint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/measure/suites.h"
#include "kernels/studies/content.h"
#include "tests/benched.h"

namespace tilewalk::bench_l2_hint_test {
namespace {

namespace l2_hint = bench::l2_hint;

TEST(bench_l2_hint, every_kernel_has_its_qualifier_and_no_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    std::set<std::string> texts;
    for (const auto& a : l2_hint::accesses()) {
        for (const std::string& hint : l2_hint::hints()) {
            const std::string text = l2_hint::text_of(a, hint);
            EXPECT_TRUE(texts.insert(text).second) << text;
            const std::string instruction = hint == "none" ? a.instruction : a.instruction + ".L2::" + hint;
            const std::string used = instruction + (a.copies ? " " : a.bytes == 4 ? ".b32" : ".v");
            for (const std::string architecture : {"sm_80", "sm_90"}) {
                const auto got = expect_clean(text, architecture, 0, {used, "L2::"});
                EXPECT_GT(got.words.at(0), 0) << used << '\n' << got;
                EXPECT_EQ(got.words.at(1) == 0, hint == "none") << used << '\n' << got;
            }
        }
    }
}

TEST(bench_l2_hint, numbers_are_spread_and_exact) {
    double sum = 0, least = 0, most = 0;
    for (unsigned i = 0; i < 1 << 16; ++i) {
        const float x = kernels::studies::single_content(i);
        EXPECT_EQ(std::ldexp(x, 22), std::floor(std::ldexp(x, 22)));
        sum += static_cast<double>(x);
        least = std::min(least, static_cast<double>(x));
        most = std::max(most, static_cast<double>(x));
    }
    EXPECT_LT(std::abs(sum / (1 << 16)), 0.02);
    EXPECT_GE(least, -2.0);
    EXPECT_LT(least, -1.999);
    EXPECT_LT(most, 2.0);
    EXPECT_GT(most, 1.999);
}

// The tolerance is so narrow that a kernel that summed another block's numbers would be found.
TEST(bench_l2_hint, the_bound_tells_one_block_from_another) {
    for (const auto& a : l2_hint::accesses()) {
        const auto truth = l2_hint::truth_of_block(a, 3);
        double sum = 0, first_piece = 0;
        for (std::uint64_t i = 0; i < a.block_elements(); ++i) {
            const float x = kernels::studies::single_content(3 * a.block_elements() + i);
            const float t = std::tanh(x);
            sum += static_cast<double>(t);
            if (i < 256 * static_cast<std::uint64_t>(a.bytes) / 4) first_piece += static_cast<double>(t);
        }
        const std::string what = a.instruction + " " + std::to_string(a.bytes);
        EXPECT_LT(std::abs(sum - truth.sum), truth.bound / 100) << what;
        EXPECT_GT(std::abs(l2_hint::truth_of_block(a, 4).sum - truth.sum), truth.bound) << what;
        if (a.pieces > 1) {
            EXPECT_GT(std::abs(first_piece - truth.sum), truth.bound) << what;
        }
    }
}

TEST(bench_l2_hint, a_device_that_computes_nothing_gives_no_result) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->said_free = std::size_t{64} << 20;
    const auto rows = rows_on_fake(bench::suite_named("l2_hint").run, gpu);
    EXPECT_EQ(gpu->report(), "");
    EXPECT_EQ(rows.size(), l2_hint::accesses().size() * l2_hint::hints().size());
    std::set<std::string> keys;
    for (const auto& r : rows) {
        EXPECT_TRUE(keys.insert(bench::key_of(r)).second) << bench::key_of(r);
        EXPECT_EQ(r.wrong.find("the sum of block 0 is "), 0u) << r.wrong;
        EXPECT_NE(r.wrong.find("nan, expected"), std::string::npos) << r.wrong;
        EXPECT_TRUE(r.figures.empty()) << r.figures.dump();
        EXPECT_EQ(r.over.is_null(), r.axes["hint"] == "none");
        EXPECT_EQ(r.axes["count"], 1 << 22);
    }
}

TEST(bench_l2_hint, every_row_is_right_on_a_gpu) {
    auto gpu = some_gpu();
    if (gpu == nullptr) GTEST_SKIP() << "no GPU";
    std::size_t published = 0;
    for (const auto& r : rows_of(bench::suite_named("l2_hint").run, std::move(gpu), cuda::nvrtc_compiler())) {
        EXPECT_TRUE(r.is_result()) << bench::key_of(r) << ' ' << r.wrong << r.skipped;
        published += r.figures.contains("published");
    }
    EXPECT_EQ(published, 2u);
}

}  // namespace
}  // namespace tilewalk::bench_l2_hint_test
