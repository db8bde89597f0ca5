// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// Kernels of trades with tangents (derivatives carried forward along the path): they compile without a GPU
// and without a stack frame, and on a GPU have the CPU's bits.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/measures.h"
#include "engine/plan/moved_markets.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/ways_back.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/known_kernels.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::tangent_kernels_test {
namespace {

using program::precision;

const char* const asian_of_a_year =
    "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, "
    "volatility: 0.2}}}\n"
    "trades:\n"
    "  - {id: a, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: "
    "252}}\n";
const char* const heston_call =
    "market:\n"
    "  as_of: 2026-01-15\n"
    "  currencies: {USD: {rate: 0.05}}\n"
    "  assets:\n"
    "    A: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: "
    "-0.7, "
    "scheme: full_truncation, steps_per_year: 252}}}\n"
    "trades:\n"
    "  - {id: h, product: european, underlying: A, strike: 100, maturity: 1.0}\n";

program::tangent_program tangents_of(const char* text, const std::set<std::string>& measures, precision in) {
    const book b = book::parse(text);
    const markets::market_state& here = state_of(*b.market());
    const books::trade& t = state_of(b).trades.at(0);
    const plan::trade_program made = plan::plan_trade(t, here, in);
    const plan::trade_numbers numbers(t, here, made.code, made.idle, in, {});
    std::vector<program::wanted_numbers> along;
    for (const markets::keyed_number& n : here.source->numbers()) {
        const greeks::risk_number risk = greeks::risk_of(n);
        if (!measures.contains(std::string(risk.measure))) continue;
        const greeks::moved_markets about(*b.market(), {n.key}, risk.small);
        const auto up = numbers.in(state_of(*about.up), {}), down = numbers.in(state_of(*about.down), {});
        greeks::mark_moved(greeks::moves_of_numbers(*up, *down, about.distance),
                           along.emplace_back(program::no_number_of(made.code)), made.code);
    }
    return program::tangents(made.code, along);
}

run_options on(const std::string& device, const std::string& precision) {
    run_options out;
    out.overrides.device = device;
    out.overrides.precision = tests::named{precision};
    out.overrides.paths = 20000;
    return out;
}

}  // namespace

TEST(tangent_kernels, compile_without_a_gpu) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    struct kind {
        const char* book;
        std::set<std::string> measures;
        std::size_t directions;
        int width;  // paths a thread
    };
    for (const kind& of :
         {kind{asian_of_a_year, {"delta", "vega", "rho"}, 3, 2}, kind{heston_call, {"delta", "rho"}, 2, 2},
          kind{heston_call, {"delta", "parameter"}, 6, 1}}) {
        for (const precision in : {precision::double_, precision::single}) {
            const program::tangent_program t = tangents_of(of.book, of.measures, in);
            ASSERT_EQ(t.along.size(), of.directions);
            cuda::kernel_wish asked;
            asked.precision = in;
            const auto how =
                cuda::decide(asked, t.code, [](const cuda::kernel_decision&, int) { return true; });
            EXPECT_EQ(how[cuda::knobs::width], of.width);
            const tests::kernel_facts got = tests::facts_of({cuda::path_kernel_text(t.code, how), "sm_90"});
            EXPECT_EQ(got.kernels, 1) << got;
            EXPECT_TRUE(got.is_in_registers()) << got;
        }
    }
}

using tangent_kernels_on_a_gpu = tests::on_a_gpu;

TEST_F(tangent_kernels_on_a_gpu, have_the_bits_of_the_cpu) {
    const engine e;
    for (const char* text : {asian_of_a_year, heston_call}) {
        const book b = book::parse(text);
        for (const char* const precision : {"double", "single"}) {
            const greek_options few{{"delta", "rho"}};
            const results got = e.greeks(b, *b.market(), few, on("cuda", precision));
            ASSERT_FALSE(got.manifest.devices.empty());
            const results expected = e.greeks(b, *b.market(), few, on("cpu", precision));
            ASSERT_EQ(got.greeks.size(), expected.greeks.size());
            EXPECT_EQ(got.rows.at(0).part_means, expected.rows.at(0).part_means) << precision;
            for (std::size_t i = 0; i < got.greeks.size(); ++i)
                EXPECT_EQ(got.greeks[i].part_means, expected.greeks[i].part_means) << got.greeks[i].key;
        }
    }
}

}  // namespace tilewalk::tangent_kernels_test
