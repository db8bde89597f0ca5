// SPDX-License-Identifier: Apache-2.0
// Decisions to end a trade early: their lower and upper bounds hold the truth between them, and the truth is
// known from trees and from published figures.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/book/book_state.h"
#include "engine/cpu/back_end.h"
#include "engine/exercise/training.h"
#include "engine/run/units.h"
#include "kernels/moments.h"
#include "tilewalk/book.h"

namespace tilewalk {
namespace {

struct bounds_found {
    double lower, lower_error, upper, upper_error;
};

bounds_found bounds_of(const std::string& text, std::uint64_t training_paths = 1 << 16,
                       std::uint64_t paths = 1 << 18) {
    const book b = book::parse(text);
    const books::trade& t = b.state().trades.at(0);
    if (t.failure) throw error(*t.failure);
    const auto& in = b.market()->state();
    const auto& best = *cpu::runnable_instruction_sets().sets[0];
    const auto found = exercise::policy_of(t, in, {1234, training_paths, &best, 2, {}, {}});
    const exercise::policy& by = found.value();
    const auto walked = [&](const plan::trade_program& made, std::uint64_t seed) {
        const run::job j{&made.code, &made.data, &made.when};
        run::walk walk;
        walk.jobs = {&j, 1};
        walk.seed = seed;
        walk.paths = paths;
        return cpu::back_end(best, 2, program::precision::double_).walk_all(walk).tallies.at(0).whole().moments;
    };
    const auto lower = walked(exercise::following_plan(t, in, by, program::precision::double_, {}), 1);
    const auto upper = walked(exercise::bounding_plan(t, in, by, program::precision::double_, {}), 2);
    return {lower.mean, run::standard_error_of(lower), upper.mean, run::standard_error_of(upper)};
}

std::string market_of(const std::string& assets, double rate) {
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: " + std::to_string(rate) + "}}\n  assets:\n" +
           assets + "trades:\n";
}

}  // namespace

// Longstaff and Schwartz (2001), table 1, on 50 dates a year; the truth is that of backward induction.
TEST(exercise, bounds_hold_an_american_put) {
    const bounds_found got = bounds_of(market_of("    A: {currency: USD, spot: 36, volatility: 0.2}\n", 0.06) +
                                       "  - {id: t, product: american, option: put, underlying: A, strike: 40, "
                                       "exercise_dates: {start: 0, end: 1, count: 50}}\n");
    std::printf("%.5f +- %.5f  %.5f +- %.5f\n", got.lower, got.lower_error, got.upper, got.upper_error);
    constexpr double truth = 4.4778;
    EXPECT_LT(got.lower - 4 * got.lower_error, truth);
    EXPECT_GT(got.upper + 4 * got.upper_error, truth);
}

}  // namespace tilewalk
