// SPDX-License-Identifier: Apache-2.0
// Three hundred random trades in random markets against closed forms, judged together: an error too small to
// show in any one of them shows in their mean.
//
// Trades of one book share their random numbers, which would tie their errors together. So each trade is a
// book of its own, with a seed of its own, and the 300 errors, measured in standard errors (z), are
// independent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/verify/truth.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

constexpr int trades_in_all = 300;
constexpr std::uint64_t paths = 1 << 17;
constexpr double planted_error = 1.001;

struct scores {
    double mean_z = 0;         // 0 if the prices are right
    double mean_square_z = 0;  // 1 if the prices and their standard errors are right
    double mean_leaning =
        0;  // z signed so that a forward a little too high makes it positive: 0 if the prices are right
};

// For sums of 300 independent z: of mean z and the leaning z 4.5 deviations (each would be missed by a sound
// engine once in 150,000 seeds); of mean z squared from 0.63 to 1.37, that is chi squared of 300 degrees
// (once in 45,000).
bool pass_mean(const scores& s) {
    return std::abs(s.mean_z) <= 4.5 / std::sqrt(double(trades_in_all)) &&
           std::abs(s.mean_leaning) <= 4.5 / std::sqrt(double(trades_in_all));
}
bool pass_square(const scores& s) {
    return s.mean_square_z >= 0.63 && s.mean_square_z <= 1.37;
}

std::string told(const scores& s) {
    return fmt::format("mean z {:.3f}, leaning {:.3f}, mean z squared {:.3f}", s.mean_z, s.mean_leaning,
                       s.mean_square_z);
}

TEST(random_book, three_hundred_trades_and_a_planted_error) {
    verify::dice d(20260115);
    scores right, planted;
    std::string all;
    for (int i = 0; i < trades_in_all; ++i) {
        const verify::truth_entry& from =
            verify::truths()[static_cast<std::size_t>(i) % verify::truths().size()];
        verify::known_trade t = from.draw(d);
        // What is worth next to nothing is too thin a sample for a z; the truth decides, never the price.
        while (std::abs(t.price(1)) < 0.01 * t.scale) t = from.draw(d);
        run_options options;
        options.overrides.paths = paths;
        options.overrides.seed = 1000 + static_cast<std::uint64_t>(i);
        const price_row got = engine().price(book::parse(t.book, "random"), options).rows.at(0);
        ASSERT_EQ(got.status, trade_status::priced) << t.book << got.message;
        EXPECT_GE(got.effective_hits, 500) << t.book;
        ASSERT_GT(got.standard_error, 0) << t.book;
        const double truth = t.price(1), wrong = t.price(planted_error);
        const double z = (got.price - truth) / got.standard_error;
        const double wrong_z = (got.price - wrong) / got.standard_error, lean = wrong > truth ? 1 : -1;
        // Once in 6,000 seeds for a sound engine.
        EXPECT_LE(std::abs(z), 5) << t.book
                                  << fmt::format("price {}, standard error {}, truth {}, z {:.2f}", got.price,
                                                 got.standard_error, truth, z);
        right.mean_z += z / trades_in_all;
        right.mean_square_z += z * z / trades_in_all;
        right.mean_leaning += lean * z / trades_in_all;
        planted.mean_z += wrong_z / trades_in_all;
        planted.mean_square_z += wrong_z * wrong_z / trades_in_all;
        planted.mean_leaning += lean * wrong_z / trades_in_all;
    }
    EXPECT_TRUE(pass_mean(right)) << told(right);
    EXPECT_TRUE(pass_square(right)) << told(right);
    // The same prices against forwards that are 0.1 percent out.
    EXPECT_FALSE(pass_mean(planted)) << told(planted);
    EXPECT_FALSE(pass_square(planted)) << told(planted);
}

}  // namespace
}  // namespace tilewalk
