// SPDX-License-Identifier: Apache-2.0
// Tables by which CGMY's moves are drawn, against the law's transform, to the accuracy of linear
// interpolation; and prices after one step and after many.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "engine/models/cgmy_law.h"
#include "engine/numerics/price.h"
#include "tests/draws.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::cgmy_test {
namespace {

using models::cgmy_parameters;
using models::cgmy_table;
using models::make_cgmy_table;

using draws = random_parameters;
using tests::dollar_market;
using tests::product_in_words;

cgmy_parameters draw_parameters(draws& d, double least_y, double most_y) {
    cgmy_parameters p{1, d.over_decades(1, 60), d.over_decades(2, 60), d.between(least_y, most_y)};
    const double volatility = d.over_decades(0.08, 0.8);
    p.c = volatility * volatility / models::cgmy_variance(p);
    return p;
}

std::string say(const cgmy_parameters& p, double years) {
    return fmt::format("C {}, G {}, M {}, Y {}, {} years", p.c, p.g, p.m, p.y, years);
}

fourier::characteristic law_of(const cgmy_parameters& p, double years) {
    return fourier::characteristic_of(fourier::cgmy{p.c, p.g, p.m, p.y}, years);
}

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The mean of max(exp(x) - strike, 0), where the table makes x piecewise linear in a normal: each piece in
// closed form.
double call_of(const models::step_table& t, double strike) {
    const double k = std::log(strike), spacing = (t.high - t.low) / double(t.numbers.size() - 1);
    const auto part = [&](double slope, double level, double from, double to) {
        // One piece's mean, max(exp(level + slope z) - strike, 0), by differences of the nearer normal tail.
        const auto mass = [&](double shift) {
            const double a = from - shift, b = to - shift;
            return a > 0 ? normal_cdf(-a) - normal_cdf(-b) : normal_cdf(b) - normal_cdf(a);
        };
        return std::exp(level + 0.5 * slope * slope) * mass(slope) - strike * mass(0);
    };
    double sum = normal_cdf(-t.high) * (std::max(std::exp(t.numbers.back()) - strike, 0.0) +
                                        std::max(std::exp(t.numbers.front()) - strike, 0.0));
    for (std::size_t i = 0; i + 1 < t.numbers.size(); ++i) {
        const double at = t.low + spacing * double(i), first = t.numbers[i], next = t.numbers[i + 1],
                     slope = (next - first) / spacing, level = first - slope * at;
        if (first <= k && next <= k) continue;
        const double cross = slope != 0 ? std::clamp((k - level) / slope, at, at + spacing) : at;
        const bool is_up = next > first, has_cross = std::min(first, next) < k;
        sum +=
            part(slope, level, has_cross && is_up ? cross : at, has_cross && !is_up ? cross : at + spacing);
    }
    return sum;
}

// The table's mean of exp(x) - 1, piece by piece; beyond its ends the table is flat, as draws are.
double mean_less_one(const models::step_table& t) {
    const double spacing = (t.high - t.low) / double(t.numbers.size() - 1);
    double sum = normal_cdf(t.low) * std::expm1(t.numbers.front()) +
                 normal_cdf(-t.high) * std::expm1(t.numbers.back());
    for (std::size_t i = 0; i + 1 < t.numbers.size(); ++i) {
        const double at = t.low + spacing * double(i), first = t.numbers[i],
                     slope = (t.numbers[i + 1] - first) / spacing, level = first - slope * at;
        const auto mass = [&](double shift) {
            const double a = at - shift, b = a + spacing;
            return a > 0 ? normal_cdf(-a) - normal_cdf(-b) : normal_cdf(b) - normal_cdf(a);
        };
        sum += std::exp(level + 0.5 * slope * slope) * mass(slope) - mass(0);
    }
    return sum;
}

// The worst error of a call, in standard deviations of x. Strikes go from two of these below to four above.
double worst_call(const cgmy_parameters& p, double years, const models::step_table& t) {
    const fourier::characteristic law = law_of(p, years);
    const double deviation = std::sqrt(years * models::cgmy_variance(p));
    double worst = 0;
    for (const double z : {-2.0, -1.0, -0.3, 0.1, 0.5, 1.0, 2.0, 4.0}) {
        const fourier::option_prices truth = fourier::vanilla(law, std::exp(z * deviation));
        EXPECT_LE(truth.error, 1e-9 * deviation) << say(p, years);
        worst = std::max(worst, std::abs(call_of(t, std::exp(z * deviation)) - truth.call) / deviation);
    }
    return worst;
}

// Over steps of a day to two years, calls err by little more than engine/models/cgmy.cpp says.
TEST(cgmy, tables_of_512_intervals_hold_the_law) {
    struct range {
        double least_y, most_y, bound;
    };
    for (const range& r : {range{0, 1.9, 4e-7}, range{-1, 0, 3e-5}}) {
        draws d(31);
        double worst = 0, worst_moved = 0, worst_inversion = 0;
        for (int i = 0; i < 60; ++i) {
            cgmy_parameters p = draw_parameters(d, r.least_y, r.most_y);
            if (r.most_y > 0 && i % 6 == 0)
                p.y = std::array{0.0, 0.5, 1.0, 1e-9, 1 + 1e-9}[std::size_t(i / 6 % 5)];
            const double years = std::min(d.over_decades(1 / 365.0, 2), 4 / models::cgmy_variance(p));
            const cgmy_table made = make_cgmy_table(p, years, 513);
            const double off = worst_call(p, years, made.table);
            EXPECT_LE(off, r.bound) << say(p, years);
            // Shows that the test can fail: a step longer by a hundredth has another law.
            EXPECT_GT(worst_call(p, 1.01 * years, made.table), r.bound) << say(p, years);
            EXPECT_LE(made.inversion_error, 1e-9) << say(p, years);
            EXPECT_LE(std::abs(made.moved), 1e-5) << say(p, years);
            worst = std::max(worst, off);
            worst_moved = std::max(worst_moved, std::abs(made.moved));
            worst_inversion = std::max(worst_inversion, made.inversion_error);
        }
        fmt::print(
            "Y from {} to {}: calls off by {:.1e} deviations at most, the mean by {:.1e}, probabilities by "
            "{:.1e}\n",
            r.least_y, r.most_y, worst, worst_moved, worst_inversion);
    }
}

TEST(cgmy, a_table_is_a_martingale) {
    draws d(32);
    for (int i = 0; i < 40; ++i) {
        const cgmy_parameters p = draw_parameters(d, -1, 1.9);
        const double years = std::min(d.over_decades(1 / 365.0, 2), 4 / models::cgmy_variance(p));
        for (const std::size_t points : {65U, 513U}) {
            EXPECT_NEAR(call_of(make_cgmy_table(p, years, points).table, 1e-300), 1, 1e-10)
                << say(p, years) << ", " << points << " points";
        }
    }
}

// Halving the table's intervals twice divides the error of calls, whose kinks lie anywhere in an interval, by
// 64, and that of the mean by 256.
TEST(cgmy, lines_are_of_the_third_order_for_calls_and_of_the_fourth_for_the_mean) {
    draws d(33);
    double calls = 0, means = 0;
    constexpr int laws = 24;
    for (int i = 0; i < laws; ++i) {
        const cgmy_parameters p = draw_parameters(d, 0, 1.5);
        const double years = d.over_decades(1 / 52.0, 1);
        const cgmy_table coarse = make_cgmy_table(p, years, 129), fine = make_cgmy_table(p, years, 513);
        calls += std::log2(worst_call(p, years, coarse.table) / worst_call(p, years, fine.table)) / 2 / laws;
        means += std::log2(std::abs(coarse.moved / fine.moved)) / 2 / laws;
    }
    fmt::print("orders: calls {:.2f}, mean {:.2f}\n", calls, means);
    EXPECT_NEAR(calls, 3, 0.4);
    EXPECT_NEAR(means, 4, 0.4);
}

// 10 laws, 3 strikes, a year in one step and in 52 weeks: 60 comparisons, one false alarm in 2,400. The error
// of 52 tables is far below a standard error.
TEST(cgmy, weeks_add_up_to_a_year) {
    draws d(34);
    double mean_square = 0;
    int cases = 0;
    for (int i = 0; i < 10; ++i) {
        cgmy_parameters p = draw_parameters(d, i < 2 ? -1 : 0, i < 2 ? 0 : 1.9);
        if (i == 2) p.y = 0;
        if (i == 3) p.y = 1;
        const std::string text =
            dollar_market(0, {{"A", fmt::format("spot: 1, model: {{cgmy: {{C: {}, G: {}, M: {}, Y: {}}}}}",
                                                p.c, p.g, p.m, p.y)}});
        const double deviation = std::sqrt(models::cgmy_variance(p));
        std::vector<std::string> trades;
        std::vector<double> truths;
        for (const double z : {-0.7, 0.2, 0.9}) {
            const double strike = std::exp(z * deviation);
            for (const char* dates : {"[1.0]", "{start: 0, end: 1, count: 52}"}) {
                trades.push_back(
                    fmt::format("product: late_put, underlying: A, strike: {}, dates: {}", strike, dates));
                truths.push_back(fourier::vanilla(law_of(p, 1), strike).put);
            }
        }
        const auto rows =
            priced("products:\n" +
                       product_in_words("late_put",
                                        "A put on the last of many dates, on all of which the path stops.",
                                        "underlying: asset, strike: amount, dates: schedule",
                                        "seen = 0\n"
                                        "on dates:\n"
                                        "    seen = spot(underlying)\n"
                                        "on last(dates):\n"
                                        "    pay max(strike - seen, 0)\n"),
                   text, trades, 1 << 17, 4000 + std::uint64_t(i));
        for (std::size_t k = 0; k < rows.size(); ++k) {
            ASSERT_EQ(rows[k].status, trade_status::priced) << say(p, 1) << ": " << rows[k].message;
            const double z = (rows[k].price - truths[k]) / rows[k].standard_error;
            EXPECT_LE(std::abs(z), limit) << say(p, 1) << "\n"
                                          << trades[k] << ": " << rows[k].price << " +- "
                                          << rows[k].standard_error << ", truth " << truths[k];
            mean_square += z * z;
            ++cases;
        }
    }
    fmt::print("{} puts: mean z squared {:.3f}\n", cases, mean_square / cases);
}

// A martingale whose rises lie beyond all draws has no table: with a table it would follow another law.
TEST(cgmy, a_law_that_no_table_holds_is_refused_with_its_place) {
    const std::string text =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  A: {currency: USD, spot: 1,\n      "
        "model: {cgmy: {C: 1, G: 5, M: 1.1, Y: 0.5}}}\n";
    const auto rows =
        priced("", text, {"product: european, underlying: A, strike: 1, maturity: 1"}, 1 << 12, 1);
    EXPECT_EQ(rows[0].status, trade_status::failed);
    EXPECT_EQ(rows[0].kind, error_kind::input);
    for (const char* part : {"'A'", "cgmy", "off by 0.003", "the mean of its price", "a larger M"})
        EXPECT_NE(rows[0].message.find(part), std::string::npos) << rows[0].message;
    EXPECT_EQ(rows[0].where.line, 5);
}

// With M near 1, the table's last interval, rarely drawn from, holds more than a millionth of the mean.
TEST(cgmy, tables_have_the_mean_one_up_to_their_ends) {
    for (const cgmy_parameters& p : {cgmy_parameters{0.3, 8, 1.02, 0.5}, cgmy_parameters{0.3, 8, 1.2, 0.9},
                                     cgmy_parameters{0.05, 2, 1.05, 1.3}, cgmy_parameters{0.3, 8, 16, 0.9}}) {
        for (const double years : {0.25, 1.0}) {
            const cgmy_table made = make_cgmy_table(p, years, 512);
            EXPECT_NEAR(mean_less_one(made.table), 0, 1e-9) << say(p, years);
        }
    }
}

}  // namespace
}  // namespace tilewalk::cgmy_test
