// SPDX-License-Identifier: Apache-2.0
// Terms at their edges: strikes of 0, and averages that have begun.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/market_text.h"
#include "tests/model_market.h"

namespace tilewalk::edge_terms_test {
namespace {

using tests::dollar_market;

constexpr double rate = 0.05, yield = 0.02, spot = 100;

const std::string plain_market =
    dollar_market(0.05,
                  {{"A", "spot: 100, dividend_yield: 0.02, volatility: 0.3"},
                   {"C", "spot: 100, dividend_yield: 0.02, model: {cev: {volatility: 3, beta: 0.5}}"}},
                  R"(fixings:
  A: {2025-10-15: 91, 2025-11-17: 96, 2025-12-15: 104})");

double discount(double years) {
    return std::exp(-rate * years);
}
// Today's value of one share delivered after `years`.
double share(double years) {
    return spot * std::exp(-yield * years);
}
double forward(double years) {
    return share(years) / discount(years);
}

std::vector<price_row> all_priced(const std::vector<std::string>& trades, std::uint64_t paths,
                                  std::uint64_t seed) {
    auto rows = priced("", plain_market, trades, paths, seed);
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(rows[i].status, trade_status::priced) << trades[i] << ": " << rows[i].message;
    return rows;
}

double noise_of(const price_row& row) {
    return std::isnan(row.standard_error) ? 0 : row.standard_error;
}

// 19 comparisons at 4.5 standard errors: one false alarm in 7,500 seeds.
TEST(edge_terms, with_a_strike_of_0_a_call_is_what_it_buys_and_a_put_is_nothing) {
    struct known {
        std::string trade;
        double truth;
    };
    const std::string one_year = ", strike: 0, maturity: 1";
    std::vector<known> cases{
        {"product: european, underlying: A" + one_year, share(1)},
        {"product: european, underlying: C" + one_year, share(1)},
        {"product: european, underlying: A, option: put" + one_year, 0},
        {"product: european, underlying: C, option: put" + one_year, 0},
        {"product: digital, underlying: A" + one_year, discount(1)},
        {"product: digital, underlying: C" + one_year, discount(1)},
        {"product: digital, underlying: A, option: put" + one_year, 0},
        {"product: gap_option, underlying: A, trigger: 1e-9" + one_year, share(1)},
        {"product: chooser, underlying: A, choice_date: 0.5" + one_year, share(1)},
        {"product: complex_chooser, underlying: A, choice_date: 0.5, call_strike: 0, call_maturity: 1, "
         "put_strike: 0, put_maturity: 1",
         share(1)},
        {"product: compound, underlying: A, strike: 0, maturity: 0.5, underlying_strike: 0, "
         "underlying_maturity: 1",
         share(1)},
        {"product: asian, underlying: A, strike: 0, averaging_dates: [0.5, 1]",
         discount(1) * (forward(0.5) + forward(1)) / 2},
        {"product: asian, underlying: A, option: put, strike: 0, averaging_dates: [0.5, 1]", 0},
        // The geometric mean is lognormal; the variance of its logarithm is (0.5 + 3 * 0.5) / 4 * 0.09.
        {"product: asian, underlying: A, mean: geometric, strike: 0, averaging_dates: [0.5, 1]",
         discount(1) * spot * std::exp((rate - yield - 0.045) * 0.75 + 0.5 * 0.09 * (0.5 + 2 * 0.5 + 1) / 4)},
    };
    std::vector<std::string> trades;
    for (const known& k : cases) trades.push_back(k.trade);
    const std::vector<std::string> halves{
        "product: barrier, underlying: A, direction: down, barrier: 80",
        "product: double_barrier, underlying: A, lower: 80, upper: 130",
        "product: soft_barrier, underlying: A, lower: 80, upper: 90",
        "product: partial_barrier, underlying: A, barrier: 80, monitoring_end: 0.5",
    };
    for (const std::string& half : halves) {
        for (const std::string kind : {"knock_out", "knock_in"})
            trades.push_back(half + ", kind: " + kind + one_year);
    }
    const auto rows = all_priced(trades, 1 << 14, 5);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const double noise = limit * noise_of(rows[i]) + 1e-12;
        EXPECT_NEAR(rows[i].price, cases[i].truth, noise) << trades[i];
    }
    for (std::size_t h = 0; h < halves.size(); ++h) {
        const auto& out = rows[cases.size() + 2 * h];
        const auto& in = rows[cases.size() + 2 * h + 1];
        const double noise = limit * (noise_of(out) + noise_of(in));
        EXPECT_NEAR(out.price + in.price, share(1), noise) << halves[h];
    }
}

// Past prices of an average count the same from the market's fixings and from the trade's own terms, and both
// equal an average over the remaining dates with a changed strike.
TEST(edge_terms, an_average_that_has_begun) {
    const std::string to_come = "{start: 0, end: 1, count: 4}",
                      all = "[2025-10-15, 2025-11-17, 2025-12-15, 2026-06-15, 2026-12-15]";
    const double geometric = std::cbrt(91.0 * 96 * 104), total = 91 + 96 + 104;
    const std::string asian = "product: asian, underlying: A, option: call";
    const double weighted = (1 * 91 + 2 * 96 + 3 * 104.0) / 6;
    const auto rows = all_priced(
        {
            asian + ", strike: 98, averaging_dates: " + all,
            asian + fmt::format(", strike: 98, averaging_dates: [2026-06-15, 2026-12-15], average_so_far: "
                                "{:.17g}, weight_so_far: 3",
                                total / 3),
            asian + ", strike: 98, mean: geometric, averaging_dates: " + all,
            asian + fmt::format(", strike: 98, mean: geometric, averaging_dates: [2026-06-15, 2026-12-15], "
                                "average_so_far: {:.17g}, weight_so_far: 3",
                                geometric),
            asian + ", strike: 98, weights: [1, 2, 3, 4, 5], averaging_dates: " + all,
            asian + fmt::format(", strike: 98, weights: [4, 5], averaging_dates: [2026-06-15, 2026-12-15], "
                                "average_so_far: {:.17g}, weight_so_far: 6",
                                weighted),
            // 3 of 7 prices average 97; the call pays if the other 4 average more than (7 * 98 - 3 * 97) / 4.
            asian + ", strike: 98, averaging_dates: " + to_come + ", average_so_far: 97, weight_so_far: 3",
            asian + fmt::format(", strike: {:.17g}, averaging_dates: ", (7 * 98 - 3 * 97) / 4.0) + to_come,
            // The past prices alone carry the average above the strike: the call is a forward.
            asian + ", strike: 50, averaging_dates: [1], average_so_far: 200, weight_so_far: 2",
            asian + ", strike: 98, averaging_dates: " + to_come,
            asian + ", strike: 98, averaging_dates: " + to_come +
                ", average_so_far: 97, weight_so_far: 1e-12",
        },
        1 << 14, 8);
    for (std::size_t i = 0; i < 6; i += 2) {
        EXPECT_GT(rows[i].price, 1) << i;
        EXPECT_NEAR(rows[i].price, rows[i + 1].price, 1e-11) << i;
    }
    EXPECT_NEAR(rows[6].price, rows[7].price * 4 / 7, 1e-11);
    EXPECT_NEAR(rows[8].price, discount(1) * ((400 + forward(1)) / 3 - 50), limit * noise_of(rows[8]));
    EXPECT_NEAR(rows[9].price, rows[10].price, 1e-10);
    EXPECT_GT(std::abs(rows[9].price - rows[6].price), 1);

    const auto refused = priced("", plain_market,
                                {asian + ", strike: 98, averaging_dates: [1], average_so_far: 97",
                                 asian + ", strike: 98, averaging_dates: [1], weight_so_far: 3"},
                                64, 1);
    for (const price_row& row : refused) {
        EXPECT_EQ(row.status, trade_status::failed);
        EXPECT_NE(row.message.find("expected both or neither"), std::string::npos) << row.message;
    }
}

}  // namespace
}  // namespace tilewalk::edge_terms_test
