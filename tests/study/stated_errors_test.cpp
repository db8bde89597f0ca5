// SPDX-License-Identifier: Apache-2.0
// Every kind of stated error against the spread of its value over seeds, of which more are used at night.
// Bounds of the ratio are chi-squared quantiles with one false alarm in a million.
// label: sampled (each kind of error)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::stated_errors_test {
namespace {

using tests::dollar_market;
using tests::in_book;

constexpr std::uint64_t paths = 16384;

struct found {
    double value = 0, error = 0;
};

const book& trades() {
    static const book all =
        book::parse(in_book(dollar_market(0.05,
                                          {{"A", "spot: 100, volatility: 0.25, dividend_yield: 0.02"},
                                           {"B", "spot: 90, volatility: 0.3"}},
                                          "correlations: [[A, B, 0.4]]")) +
                    R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0.25, end: 1, count: 4}}
  - {id: basket, product: basket, basket: [A, B], weights: [0.5, 0.5], strike: 95, maturity: 1}
  - {id: digital, product: digital, underlying: A, strike: 105, maturity: 1, payout: 10}
  - {id: knocked_out, product: barrier, underlying: A, strike: 100, maturity: 1, direction: down, kind: knock_out, barrier: 90, monitoring: discrete, monitoring_dates: {start: 0.25, end: 1, count: 4}}
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
  - {id: rare, product: european, option: put, underlying: A, strike: 60, maturity: 1}
)");
    return all;
}

book only(const std::string& trade) {
    return trades().only({trade});
}

run_options with(std::uint64_t seed, const std::string& random, const std::string& controls) {
    run_options out;
    out.overrides = {.paths = paths, .seed = seed, .threads = 1, .device = "cpu", .random = random};
    out.overrides.controls = tests::named{controls};
    return out;
}

using by_seed = std::function<found(std::uint64_t seed)>;

by_seed price_of(
    const std::string& trade, const std::string& random, const std::string& controls,
    const std::function<void(run_settings&)>& change = [](run_settings&) {}) {
    return [=](std::uint64_t seed) {
        run_options how = with(seed, random, controls);
        change(how.overrides);
        const price_row row = engine().price(only(trade), how).rows.at(0);
        return found{row.price, row.standard_error};
    };
}

by_seed greek_of(const std::string& trade, const std::string& measure, const std::string& method,
                 const std::string& random) {
    return [=](std::uint64_t seed) {
        const book some = only(trade);
        const results r = engine().greeks(some, *some.market(), {{measure}, tests::named{method}},
                                          with(seed, random, "none"));
        const auto row = std::ranges::find_if(r.greeks, [](const greek_row& g) { return g.key == "A.spot"; });
        // Each seed finds a width of smoothing of its own, so the bias varies like an error.
        const double beside = row->method == "smoothed" ? row->bias : 0;
        return found{row->value, std::hypot(row->standard_error, beside)};
    };
}

by_seed gain_of(const std::string& trade, const std::string& moves, const std::string& random) {
    return [=](std::uint64_t seed) {
        const book some = only(trade);
        const scenario_results r = engine().scenarios(
            some, *some.market(),
            scenario_list::parse("stress:\n  one: {" + moves + "}\n", "scenarios", *some.market()),
            with(seed, random, "none"));
        return found{r.gain(0, 0), r.error_of_gain(0, 0)};
    };
}

by_seed of_right(double early_exercise::*value, double early_exercise::*error) {
    return [=](std::uint64_t seed) {
        const results r = engine().price(only("right"), with(seed, "philox", "none"));
        return found{(*r.rows.at(0).early).*value, (*r.rows.at(0).early).*error};
    };
}

struct kind {
    std::string what;
    by_seed find;
    // Factors by which the spread may exceed the error, or fall short of it, apart from chance.
    double more = 1.05, less = 1.05;
};
const std::vector<kind>& kinds() {
    static const std::vector<kind> all{
        {"price_by_paths", price_of("asian", "philox", "none")},
        {"price_by_points", price_of("asian", "sobol", "none")},
        {"price_by_paths_with_controls", price_of("basket", "philox", "auto")},
        // The stated error counts one path that pays more or less in the run, which is generous.
        {"price_by_points_with_controls", price_of("digital", "sobol", "auto"), 1.05, 1.35},
        {"price_by_importance",
         price_of("rare", "philox", "none", [](run_settings& s) { s.importance = technique::automatic; })},
        {"price_by_integration", price_of("knocked_out", "sobol", "none",
                                          [](run_settings& s) { s.preintegration = technique::automatic; })},
        {"price_by_pairs",
         price_of("asian", "philox", "none", [](run_settings& s) { s.antithetic = antithetic::pairs; })},
        {"price_in_single",
         price_of("asian", "philox", "none", [](run_settings& s) { s.precision = precision::single; })},
        {"price_by_rounds", price_of("asian", "philox", "none",
                                     [](run_settings& s) {
                                         s.paths.reset();
                                         s.tolerance = accuracy::amount(0.08);
                                     })},
        {"delta_pathwise", greek_of("asian", "delta", "pathwise", "philox")},
        {"delta_pathwise_by_points", greek_of("asian", "delta", "pathwise", "sobol")},
        // The stated bias is three times the true one, which makes the stated error too large.
        {"delta_smoothed", greek_of("digital", "delta", "smoothed", "philox"), 1.05, 3.2},
        {"delta_by_likelihood_ratio", greek_of("digital", "delta", "likelihood_ratio", "philox")},
        {"delta_by_bump", greek_of("asian", "delta", "bump", "philox")},
        {"gamma", greek_of("basket", "gamma", "auto", "philox")},
        {"gain_far", gain_of("asian", "A.spot: -20%", "philox")},
        {"gain_near", gain_of("asian", "A.spot: +0.1%", "philox")},
        {"gain_by_points", gain_of("basket", "A.spot: -20%", "sobol")},
        {"total",
         [](std::uint64_t seed) {
             const book some = trades().only({"asian", "basket", "digital"});
             const currency_total t = engine().price(some, with(seed, "philox", "none")).totals().at(0);
             return found{t.value, t.error};
         }},
        {"difference_of_runs",
         [](std::uint64_t seed) {
             const auto priced = [](std::uint64_t s) {
                 return engine().price(only("asian"), with(s, "philox", "none"));
             };
             const price_difference d = compare(priced(2 * seed), priced(2 * seed + 1)).rows.at(0);
             return found{d.z, 1};
         }},
        {"policy_value", of_right(&early_exercise::policy_value, &early_exercise::policy_error)},
        // The bound also varies with the trained policy, which its error ignores: any policy gives a bound.
        {"upper_bound", of_right(&early_exercise::upper_bound, &early_exercise::upper_error), 1.5},
    };
    return all;
}

void PrintTo(const kind& k, std::ostream* out) {
    *out << k.what;
}

// Quantiles of chi-squared over its degrees of freedom (Wilson and Hilferty 1931), accurate to a hundredth
// here.
double chi_squared_ratio(double degrees, double normal_quantile) {
    const double c = 2 / (9 * degrees);
    return std::pow(1 - c + normal_quantile * std::sqrt(c), 3);
}

void expect_spread_as_stated(const kind& k, std::uint64_t seeds) {
    double sum = 0, sum_of_squares = 0, stated = 0;
    for (std::uint64_t s = 1; s <= seeds; ++s) {
        const found f = k.find(s);
        ASSERT_GT(f.error, 0);
        sum += f.value;
        sum_of_squares += f.value * f.value;
        stated += f.error * f.error;
    }
    const auto n = static_cast<double>(seeds);
    const double ratio = (sum_of_squares - sum * sum / n) / (n - 1) / (stated / n);
    constexpr double one_in_two_million = 4.892;
    EXPECT_LT(ratio, chi_squared_ratio(n - 1, one_in_two_million) * k.more * k.more);
    EXPECT_GT(ratio, chi_squared_ratio(n - 1, -one_in_two_million) / (k.less * k.less));
}

class stated_errors : public testing::TestWithParam<kind> {};
class stated_errors_long : public testing::TestWithParam<kind> {};
const auto name_of = [](const auto& of) { return of.param.what; };
INSTANTIATE_TEST_SUITE_P(of, stated_errors, testing::ValuesIn(kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(of, stated_errors_long, testing::ValuesIn(kinds()), name_of);

TEST_P(stated_errors, are_the_spread_over_200_seeds) {
    expect_spread_as_stated(GetParam(), 200);
}

TEST_P(stated_errors_long, are_the_spread_over_4000_seeds) {
    expect_spread_as_stated(GetParam(), 4000);
}

}  // namespace
}  // namespace tilewalk::stated_errors_test
