// SPDX-License-Identifier: Apache-2.0
// Intervals between a script's dates, of a length that the script sets: as many on every asset, exact if the
// path stops inside them, and conditional means whose error falls with the step as documented.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/market_text.h"
#include "tests/model_market.h"

namespace tilewalk::intervals_test {
namespace {

using tests::dollar_market;

// Assets whose paths stop inside intervals nowhere (FLAT), at pillars and dividends (TERM), or as models do.
const std::string many_assets = R"(as_of: 2026-01-15
currencies: {USD: {zero_rates: {0.31: 0.02, 1.0: 0.03}}}
assets:
  FLAT: {currency: USD, spot: 100, volatility: 0.25}
  TERM:
    currency: USD
    spot: 100
    volatility: {0.1234: 0.2, 0.5: 0.3, 0.7: 0.28}
    dividends: [{date: 2026-03-03, amount: 1.5}, {date: 2026-09-09, proportion: 0.01}]
  HESTON:
    currency: USD
    spot: 100
    model: {heston: {v0: 0.05, kappa: 1.5, theta: 0.06, sigma: 0.6, rho: -0.7}}
  JUMPS:
    currency: USD
    spot: 100
    model: {merton: {volatility: 0.2, jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.1}}
)";

const std::string watchers = R"(products:
  - product: counted
    summary: How many intervals there are, how long they are together, or whether a level is left untouched.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      longest: {type: number, help: The step.}
      level: {type: amount, help: A level that is watched.}
      pays: {type: choice, choices: [how_many, years, untouched], help: What is paid.}
    example: {underlying: A, maturity: 1.0, longest: 0.5, level: 1, pays: how_many}
    script: |
      runs = 0
      years = 0
      untouched = 1
      between start and maturity every longest:
          runs = runs + 1
          years = years + step
          untouched = untouched * (1 - touched_below(underlying, level))
      on maturity:
          if pays == how_many:
              pay runs
          elif pays == years:
              pay years
          else:
              pay untouched * max(spot(underlying) - 100, 0)
  - product: average_call
    summary: Call on the continuous average; without a strike, the average itself.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      longest: {type: number, help: The step.}
      strike: {type: amount, help: The strike.}
    example: {underlying: A, maturity: 1.0, longest: 0.5, strike: 0}
    script: |
      total = 0
      years = 0
      between start and maturity every longest:
          total = total + step * mean_spot(underlying)
          years = years + step
      on maturity:
          pay max(total / years - strike, 0)
  - product: occupation_call
    summary: What the years above a level are more than a strike.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      longest: {type: number, help: The step.}
      level: {type: amount, help: The level.}
      strike: {type: number, help: In years.}
      side: {type: choice, choices: [above, below], default: above, help: Of the level.}
    example: {underlying: A, maturity: 1.0, longest: 0.5, level: 100, strike: 0}
    script: |
      total = 0
      between start and maturity every longest:
          if side == above:
              total = total + time_above(underlying, level)
          else:
              total = total + time_below(underlying, level)
      on maturity:
          pay max(total - strike, 0)
)";

price_row one(const std::string& market_text, const std::string& trade, std::uint64_t paths,
              std::uint64_t seed = 11) {
    const price_row row = priced(watchers, market_text, {trade}, paths, seed).at(0);
    EXPECT_EQ(row.status, trade_status::priced) << trade << ": " << row.message;
    return row;
}

TEST(intervals, are_as_many_on_every_asset) {
    std::vector<std::string> trades;
    for (const std::string asset : {"FLAT", "TERM", "HESTON", "JUMPS"}) {
        for (const std::string pays : {"how_many", "years"}) {
            trades.push_back("product: counted, underlying: " + asset +
                             ", maturity: 1, longest: 0.004, level: 80, pays: " + pays);
        }
    }
    const auto rows = priced(watchers, many_assets, trades, 64, 1);
    const double discount = rows[1].price;
    EXPECT_NEAR(discount, std::exp(-0.03), 1e-12);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << trades[i] << ": " << rows[i].message;
        EXPECT_NEAR(rows[i].price, discount * (i % 2 == 0 ? 250 : 1), 1e-10) << trades[i];
    }
}

// TERM's path stops at its pillars, its dividends and the pillars of the rates, inside the script's one
// interval as between the dates of the library's barrier: both trades see the same touches of the same paths.
TEST(intervals, in_parts_see_the_touches_of_the_whole_path) {
    for (const std::string asset : {"TERM", "HESTON", "JUMPS"}) {
        const auto rows =
            priced(watchers, many_assets,
                   {"product: counted, underlying: " + asset +
                        ", maturity: 1, longest: 1, level: 90, pays: untouched",
                    "product: barrier, underlying: " + asset +
                        ", option: call, strike: 100, maturity: 1, direction: down, barrier: 90"},
                   4096, 3);
        ASSERT_EQ(rows[0].status, trade_status::priced) << rows[0].message;
        EXPECT_GT(rows[1].price, 1);
        EXPECT_NEAR(rows[0].price, rows[1].price, 1e-10 * rows[1].price) << asset;
    }
}

// First and last touch of a level, whether it is touched, and the time beyond it have the same laws in one
// interval as in parts cut by pillars of the volatility. The probability of a touch and the mean time are
// known. 18 comparisons at 4.5 standard errors: one false alarm in 8,000 seeds.
TEST(intervals, draws_in_parts_have_the_law_of_the_whole) {
    const std::string draws = R"(products:
  - product: drawn
    summary: What is drawn of a touch, counted where there is one.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      level: {type: amount, help: A level that is watched.}
      side: {type: choice, choices: [above, below], help: On which side of the level.}
      pays: {type: choice, choices: [touch, entry, exit, stay], help: What is paid.}
    example: {underlying: A, maturity: 1.0, level: 1, side: above, pays: touch}
    script: |
      paid = 0
      between start and maturity every 1:
          if side == above:
              likely = touched_above(underlying, level)
              drawn = touches_above(underlying, level)
              first_time = touch_time_above(underlying, level)
              last_time = last_time_above(underlying, level)
          else:
              likely = touched_below(underlying, level)
              drawn = touches_below(underlying, level)
              first_time = touch_time_below(underlying, level)
              last_time = last_time_below(underlying, level)
          if pays == touch:
              paid = drawn - likely
          elif pays == entry:
              paid = likely * first_time
          elif pays == exit:
              paid = likely * last_time
          elif side == above:
              paid = drawn_time_above(underlying, level) - time_above(underlying, level)
          else:
              paid = drawn_time_below(underlying, level) - time_below(underlying, level)
      on maturity:
          pay paid
)";
    const std::string market_text =
        dollar_market(0.02, {{"WHOLE", "spot: 100, volatility: 0.3"},
                             {"PARTS", "spot: 100, volatility: {0.2: 0.3, 0.5: 0.3, 0.9: 0.3, 1.0: 0.3}"}});
    for (const auto& [side, level] : {std::pair{"above", 110}, {"below", 85}, {"above", 95}}) {
        for (const std::string pays : {"touch", "entry", "exit", "stay"}) {
            std::vector<std::string> trades;
            for (const std::string asset : {"WHOLE", "PARTS"}) {
                trades.push_back(
                    fmt::format("product: drawn, underlying: {}, maturity: 1, side: {}, level: {}, pays: {}",
                                asset, side, level, pays));
            }
            const auto rows = priced(draws, market_text, trades, 1 << 17, 5);
            std::vector<double> errors;  // 0 if all paths pay the same
            for (const price_row& row : rows) {
                ASSERT_EQ(row.status, trade_status::priced) << row.message;
                errors.push_back(row.has_error() ? row.standard_error : 0);
            }
            if (pays == "touch" || pays == "stay") {
                for (std::size_t i = 0; i < rows.size(); ++i)
                    EXPECT_LE(std::abs(rows[i].price), limit * errors[i]) << side << level;
                continue;
            }
            EXPECT_TRUE(pays == "entry" || std::min(rows[0].price, rows[1].price) > 0.1) << pays;
            EXPECT_LE(std::abs(rows[0].price - rows[1].price), limit * std::hypot(errors[0], errors[1]))
                << side << ' ' << level << ' ' << pays;
        }
    }
}

// An average is linear in the path, so its conditional mean is exact for steps of any length. 8 comparisons
// at 4.5 standard errors: one false alarm in 18,000 seeds.
TEST(intervals, means_have_no_error_of_the_step) {
    const std::string market_text =
        dollar_market(0.08, {{"A", "spot: 100, volatility: 0.4"},
                             {"D", "spot: 100, volatility: 0.4, dividends: [{date: 0.5, amount: 10}]"}});
    const double discount = std::exp(-0.08);
    const auto grown = [](double from, double to) {
        return (std::exp(0.08 * to) - std::exp(0.08 * from)) / 0.08;
    };
    for (const std::string longest : {"1", "0.125"}) {
        const std::string with = ", maturity: 1, longest: " + longest;
        const price_row plain =
            one(market_text, "product: average_call, underlying: A, strike: 0" + with, 1 << 16);
        EXPECT_NEAR(plain.price, discount * 100 * grown(0, 1), limit * plain.standard_error) << longest;
        const price_row paying =
            one(market_text, "product: average_call, underlying: D, strike: 0" + with, 1 << 16);
        const double after = 10 * std::exp(-0.08 * 0.5) * grown(0.5, 1);
        EXPECT_NEAR(paying.price, discount * (100 * grown(0, 1) - after), limit * paying.standard_error)
            << longest;
        // If the logarithm has no drift and the level is the spot, half of the time is above on average.
        for (const std::string side : {"above", "below"}) {
            const price_row half =
                one(market_text,
                    "product: occupation_call, underlying: A, level: 100, strike: 0, side: " + side + with,
                    1 << 16);
            EXPECT_NEAR(half.price, discount * 0.5, limit * half.standard_error) << longest;
        }
    }
}

const std::string squares = R"(products:
  - product: square
    summary: The square of the continuous average, of the price or of its logarithm over 100.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      longest: {type: number, help: The step.}
      of: {type: choice, choices: [price, logarithm], help: What is averaged.}
    example: {underlying: A, maturity: 1.0, longest: 0.5, of: price}
    script: |
      total = 0
      variance = 0
      between start and maturity every longest:
          if of == price:
              total = total + step * mean_spot(underlying)
              variance = variance + step * step * variance_of_mean_spot(underlying)
          else:
              total = total + step * (mean_log_spot(underlying) - log(100))
              variance = variance + step * step * variance_of_mean_log_spot(underlying)
      on maturity:
          pay total * total + variance
)";

// The mean square of an average is a double integral of known means of products: it includes the variance
// that a path leaves open between its stops. In one interval, in parts of it, under jumps and beside a
// dividend. 16 comparisons at 4.5 standard errors: one false alarm in 9,000 seeds.
TEST(intervals, variances_of_means_complete_their_squares) {
    const std::string market_text = R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.08}}
assets:
  FLAT: {currency: USD, spot: 100, volatility: 0.4}
  TERM: {currency: USD, spot: 100, volatility: {0.25: 0.2, 1.0: 0.43588989435406736}}
  PAYS: {currency: USD, spot: 100, volatility: 0.4, dividends: [{date: 0.5, amount: 10}]}
  JUMPS:
    currency: USD
    spot: 100
    model: {merton: {volatility: 0.2, jump_intensity: 1, jump_mean: -0.1, jump_sd: 0.2, watched_steps_per_year: 40}}
)";
    constexpr int parts = 400;
    const auto over_pairs = [&](const auto& of) {
        double sum = 0;
        for (int i = 0; i < parts; ++i)
            for (int k = 0; k < parts; ++k) sum += of((i + 0.5) / parts, (k + 0.5) / parts);
        return sum / parts / parts;
    };
    const auto of_term = [](double t) { return t < 0.25 ? 0.04 * t : 0.01 + 0.24 * (t - 0.25); };
    const double jump = std::exp(-0.1 + 0.5 * 0.04) - 1;
    const double squared_jump = std::exp(-0.2 + 2 * 0.04) - 2 * (jump + 1) + 1;
    const auto at_least = [](double a, double b) { return std::min(a, b); };
    struct known {
        std::string asset;
        double of_price, of_logarithm;
    };
    std::vector<known> all;
    const auto lognormal = [&](const std::string& asset, const auto& variance) {
        all.push_back({asset, over_pairs([&](double s, double t) {
                           return 1e4 * std::exp(0.08 * (s + t) + variance(at_least(s, t)));
                       }),
                       over_pairs([&](double s, double t) {
                           return (0.08 * s - 0.5 * variance(s)) * (0.08 * t - 0.5 * variance(t)) +
                                  variance(at_least(s, t));
                       })});
    };
    lognormal("FLAT", [](double t) { return 0.16 * t; });
    lognormal("TERM", of_term);
    const double paid = 10 * std::exp(-0.08 * 0.5);
    all.push_back({"PAYS", over_pairs([&](double s, double t) {
                       const auto fixed = [&](double u) { return u < 0.5 ? paid * std::exp(0.08 * u) : 0; };
                       const auto grown = [&](double u) { return (100 - paid) * std::exp(0.08 * u); };
                       return grown(s) * grown(t) * std::exp(0.16 * at_least(s, t)) +
                              2 * fixed(s) * grown(t) + fixed(s) * fixed(t);
                   }),
                   0});
    const double drift = 0.08 - 0.02 - jump - 0.1, variance = 0.04 + 0.01 + 0.04;
    all.push_back(
        {"JUMPS", over_pairs([&](double s, double t) {
             return 1e4 * std::exp(0.08 * (s + t) + (0.04 + squared_jump) * at_least(s, t));
         }),
         over_pairs([&](double s, double t) { return drift * drift * s * t + variance * at_least(s, t); })});
    for (const known& k : all) {
        for (const std::string longest : {"1", "0.125"}) {
            for (const std::string of : {"price", "logarithm"}) {
                const double right = of == "price" ? k.of_price : k.of_logarithm;
                if (right == 0) continue;
                const price_row row = priced(squares, market_text,
                                             {"product: square, maturity: 1, underlying: " + k.asset +
                                              ", longest: " + longest + ", of: " + of},
                                             1 << 17, 17)
                                          .at(0);
                ASSERT_EQ(row.status, trade_status::priced) << row.message;
                // The engine's series for an interval's variance is 0.16 to 0.3 % off: 3e-5 of the square.
                const double series = of == "price" && longest == "1" ? 3e-5 * right : 0;
                EXPECT_NEAR(row.price, std::exp(-0.08) * right, chance_of(row, limit) + series)
                    << k.asset << ' ' << longest << ' ' << of << " +- " << row.standard_error;
            }
        }
    }
}

// If the price is not the exponential of the state that moves, the mean logarithm is a parabola's: a coarse
// and a fine grid agree. 6 comparisons at 4.5 standard errors of both: one false alarm in 25,000 seeds.
TEST(intervals, logarithms_have_a_mean_in_every_coordinate) {
    const std::string market_text =
        dollar_market(0.03, {{"PAYS", "spot: 100, volatility: 0.3, dividends: [{date: 0.5, amount: 20}]"},
                             {"CEV", "spot: 100, model: {cev: {volatility: 3, beta: 0.5}}"},
                             {"NORMAL", "spot: 100, model: {sabr: {alpha: 20, beta: 0, rho: 0, nu: 0.3}}"}});
    for (const std::string asset : {"PAYS", "CEV", "NORMAL"}) {
        std::vector<price_row> rows;
        for (const std::string longest : {"0.5", "0.01"}) {
            rows.push_back(one(market_text,
                               "product: continuous_asian, mean: geometric, underlying: " + asset +
                                   ", strike: 100, maturity: 1, longest_step: " + longest,
                               1 << 15));
        }
        EXPECT_NEAR(rows[0].price, rows[1].price,
                    std::hypot(chance_of(rows[0], limit), chance_of(rows[1], limit)))
            << asset;
        EXPECT_LT(rows[0].standard_error, 0.02 * rows[0].price);
    }
}

// Jumps are equally likely at every moment of a step. With all jumps at its beginning the means tested here
// would be 0.33 % too low, and the time above the level far too short. 2 comparisons at 4.5 standard errors:
// one false alarm in 70,000 seeds.
TEST(intervals, means_know_that_jumps_come_at_any_moment) {
    const std::string market_text = R"(as_of: 2026-01-15
currencies: {USD: {rate: 0.05}}
assets:
  J:
    currency: USD
    spot: 100
    model: {merton: {volatility: 0.05, jump_intensity: 2, jump_mean: -0.4, jump_sd: 0.05, watched_steps_per_year: 50}}
  FINE:
    currency: USD
    spot: 100
    model: {merton: {volatility: 0.05, jump_intensity: 2, jump_mean: -0.4, jump_sd: 0.05, watched_steps_per_year: 1000}}
)";
    const price_row mean =
        one(market_text, "product: average_call, underlying: J, strike: 0, maturity: 1, longest: 1", 1 << 18);
    EXPECT_NEAR(mean.price, std::exp(-0.05) * 100 * (std::exp(0.05) - 1) / 0.05, limit * mean.standard_error);
    EXPECT_LT(mean.standard_error, 0.06);
    const std::string above = ", level: 90, strike: 0, maturity: 1, longest: 1";
    const price_row coarse = one(market_text, "product: occupation_call, underlying: J" + above, 1 << 18, 1);
    const price_row fine = one(market_text, "product: occupation_call, underlying: FINE" + above, 1 << 14, 2);
    EXPECT_NEAR(coarse.price, fine.price, limit * std::hypot(coarse.standard_error, fine.standard_error));
    EXPECT_LT(coarse.standard_error, 0.001);
}

// Errors of a price in 1, 2, 4 ... equal steps; `noise` gets their standard errors.
std::vector<double> errors(const std::string& market_text, const std::string& trade, double truth,
                           int halvings, std::vector<double>& noise) {
    std::vector<double> out;
    for (int k = 0; k <= halvings; ++k) {
        const price_row row =
            one(market_text, trade + fmt::format(", maturity: 1, longest: {}", std::ldexp(1, -k)), 1 << 18,
                20 + static_cast<std::uint64_t>(k));
        out.push_back(row.price - truth);
        noise.push_back(row.standard_error);
    }
    return out;
}

// The error of a smooth payoff is of second order in the step: in each interval the conditional mean neglects
// a part with mean 0 and a variance of third order, in total of second. The truth is a spectral expansion's
// (V. Linetsky, Spectral expansions for Asian options, Operations Research 52, 2004, table 3: rate 0.05,
// volatility 0.5, one year, spot and strike 2). 9 comparisons at 4.5 standard errors at most: one false alarm
// in 16,000 seeds.
TEST(intervals, averages_converge_with_the_square_of_the_step) {
    const std::string market_text = dollar_market(0.05, {{"A", "spot: 2, volatility: 0.5"}});
    std::vector<double> noise;
    const auto off =
        errors(market_text, "product: average_call, underlying: A, strike: 2", 0.2464156905, 6, noise);
    EXPECT_LT(off[0], -0.02);
    for (std::size_t k = 1; k <= 2; ++k) {
        // Half the step leaves a quarter of the error in the limit, up to the noise of both.
        const double spread = limit * std::hypot(noise[k - 1] / 4, noise[k]);
        EXPECT_NEAR(off[k], off[k - 1] / 4, spread + 0.1 * std::abs(off[k])) << k;
        EXPECT_GT(std::abs(off[k - 1]), 2.5 * std::abs(off[k])) << k;
    }
    EXPECT_NEAR(off[4], 0, limit * noise[4] + std::abs(off[0]) / 256);
    EXPECT_NEAR(off[6], 0, limit * noise[6]);
}

// The order is 3/2, because the path is near the level in n^(1/2) of n intervals. If the logarithm has no
// drift and starts at the level, the fraction of time above has the arcsine law: its mean excess over a half
// is 1 / (2 pi).
TEST(intervals, occupation_times_converge_with_the_step_to_three_halves) {
    const std::string market_text = dollar_market(0.08, {{"A", "spot: 100, volatility: 0.4"}});
    std::vector<double> noise;
    const double truth = std::exp(-0.08) / (2 * std::numbers::pi);
    const auto off = errors(market_text, "product: occupation_call, underlying: A, level: 100, strike: 0.5",
                            truth, 7, noise);
    EXPECT_LT(off[0], -0.01);
    for (std::size_t k = 2; k <= 4; ++k) {
        const double ratio = std::pow(2, 1.5), spread = limit * std::hypot(noise[k - 1] / ratio, noise[k]);
        EXPECT_NEAR(off[k], off[k - 1] / ratio, spread) << k;
    }
    EXPECT_NEAR(off[7], 0, limit * noise[7] + std::abs(off[0]) * std::pow(2, -10.5));
}

// Intervals before today last from fixing to fixing and then to today. Each pair of trades has one future.
TEST(intervals, of_the_past_go_from_fixing_to_fixing) {
    const std::string market_text = dollar_market(0.05, {{"A", "spot: 100, volatility: 0.2"}}, R"(fixings:
  A: {2025-06-01: 70, 2025-10-02: 80, 2025-12-01: 90, 2026-01-05: 110})");
    const std::string product = R"(products:
  - product: summed
    summary: The price over time, and the years above a level.
    parameters:
      underlying: {type: asset, help: The asset.}
      begun: {type: date, help: The first day.}
      maturity: {type: date, help: The last day.}
      kind: {type: choice, choices: [price, above, below, how_long], help: What is summed.}
    example: {underlying: A, begun: 0, maturity: 1, kind: price}
    script: |
      total = 0
      between begun and maturity every 0.25:
          if kind == price:
              total = total + step * mean_spot(underlying)
          elif kind == above:
              total = total + time_above(underlying, 85)
          elif kind == below:
              total = total + time_below(underlying, 85)
          else:
              total = total + year_fraction(previous, today)
      on maturity:
          pay total
)";
    std::vector<std::string> trades;
    for (const std::string kind : {"price", "above", "below", "how_long"}) {
        for (const std::string begun : {"2025-09-15", "0"})
            trades.push_back("product: summed, underlying: A, maturity: 1, begun: " + begun +
                             ", kind: " + kind);
    }
    const auto rows = priced(product, market_text, trades, 4096, 3);
    for (std::size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(rows[i].status, trade_status::priced) << trades[i] << ": " << rows[i].message;
    // 17 days from 2025-09-15 to the first fixing, then 60, 35, and 10 to today.
    const double discount = std::exp(-0.05), day = discount / 365;
    EXPECT_NEAR(rows[0].price - rows[1].price, day * (17 * 80 + 60 * 90 + 35 * 110 + 10 * 100), 1e-10);
    EXPECT_NEAR(rows[2].price - rows[3].price, day * (60 + 35 + 10), 1e-12);
    EXPECT_NEAR(rows[4].price - rows[5].price, day * 17, 1e-12);
    EXPECT_NEAR(rows[6].price, discount * (1 + 122.0 / 365), 1e-12);
}

}  // namespace
}  // namespace tilewalk::intervals_test
