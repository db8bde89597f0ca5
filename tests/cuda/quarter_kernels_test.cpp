// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// Kernels that tally quarters of tiles besides whole tiles compile without a GPU and without a stack frame.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "products/program/quarters.h"
#include "tests/known_kernels.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::quarter_kernels_test {
namespace {

const char* const a_book =
    "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, "
    "volatility: 0.2}}}\n"
    "trades:\n"
    "  - {id: a, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: "
    "12}}\n"
    "  - {id: b, product: european, underlying: A, strike: 100, maturity: 1.0}\n";

TEST(quarter_kernels, compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    const book b = book::parse(a_book);
    for (const books::trade& t : state_of(b).trades) {
        for (const auto in : {program::precision::double_, program::precision::single}) {
            for (const cuda::reduction_entry& reduction : cuda::reductions()) {
                program::path_program code = plan::plan_trade(t, state_of(*b.market()), in).code;
                for (std::uint32_t j = 0; j < kernels::quarters_of_tile; ++j)
                    code.crossed.push_back(program::quarter_of(0, j));
                cuda::kernel_wish asked;
                asked.precision = in;
                asked.reduction = reduction.name;
                const auto how =
                    cuda::decide(asked, code, [](const cuda::kernel_decision&, int) { return true; });
                const std::string text = cuda::path_kernel_text(code, how);
                EXPECT_NE(text.find("has_quarters"), std::string::npos);
                for (const char* const architecture : {"sm_80", "sm_90"}) {
                    const tests::kernel_facts got = tests::facts_of({text, architecture});
                    EXPECT_TRUE(got.is_in_registers())
                        << t.id << " " << reduction.name << ", " << architecture << "\n"
                        << got;
                }
            }
        }
    }
}

TEST(quarter_kernels_quarters, are_possible_of_an_output_that_there_is) {
    EXPECT_TRUE(program::is_possible(program::quarter_of(0, 3), 1));
    EXPECT_FALSE(program::is_possible(program::quarter_of(1, 0), 1));
    EXPECT_FALSE(program::is_possible({0, kernels::first_quarter + kernels::quarters_of_tile}, 1));
    EXPECT_TRUE(program::is_possible({0, 1}, 2));
    EXPECT_FALSE(program::is_possible({0, 1}, 1));
    EXPECT_FALSE(program::is_possible({1, 1}, 2));
}

}  // namespace
}  // namespace tilewalk::quarter_kernels_test
