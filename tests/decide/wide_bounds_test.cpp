// SPDX-License-Identifier: Apache-2.0
// If bounds are far apart, the price is the policy's value instead of their middle, and the row says so and
// how to narrow them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "tests/named_choice.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::wide_bounds_test {
namespace {

// Merton's model, with `intensity` jumps a year of the logarithm.
struct jumps {
    double volatility = 0.2, intensity = 0.5, mean = -0.2, deviation = 0.2;

    double density(double move, double years, double rate) const {
        const double growth = std::exp(mean + deviation * deviation / 2) - 1;
        const double drift = (rate - volatility * volatility / 2 - intensity * growth) * years;
        double weight = std::exp(-intensity * years), sum = 0;
        for (int n = 0; n < 12; ++n) {
            const double variance = volatility * volatility * years + n * deviation * deviation;
            const double z = move - drift - n * mean;
            sum += weight * std::exp(-z * z / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
            weight *= intensity * years / (n + 1);
        }
        return sum;
    }
};

// A put with `dates` exercise dates, evenly spaced, by quadrature on a grid of log prices. Right to 1e-4:
// half as many grid points agree to 2e-5.
double put_under_jumps(const jumps& of, double spot, double strike, double rate, double years, int dates) {
    constexpr int n = 1200;
    constexpr double low = -3, high = 2, h = (high - low) / n;
    const double step = years / dates, discount = std::exp(-rate * step);
    const auto place = [](int i) { return static_cast<std::size_t>(i); };
    const auto pays = [&](int i) { return std::max(strike - spot * std::exp(low + i * h), 0.0); };
    std::vector<double> weights(2 * n + 1), value(n + 1);
    for (int k = -n; k <= n; ++k) weights[place(k + n)] = h * of.density(k * h, step, rate);
    for (int i = 0; i <= n; ++i) value[place(i)] = pays(i);
    const auto back = [&](int i) {
        double sum = 0, all = 0;
        for (int j = 0; j <= n; ++j) {
            sum += weights[place(j - i + n)] * value[place(j)];
            all += weights[place(j - i + n)];
        }
        return discount * sum / all;
    };
    constexpr int at_spot = static_cast<int>(-low / h + 0.5);
    for (int k = dates - 1; k > 0; --k) {
        std::vector<double> before(n + 1);
        for (int i = 0; i <= n; ++i) before[place(i)] = std::max(pays(i), back(i));
        value = before;
    }
    return back(at_spot);
}

constexpr const char* jumping =
    "    A: {currency: USD, spot: 100, model: {merton: {volatility: 0.2, jump_intensity: 0.5, jump_mean: "
    "-0.2, "
    "jump_sd: 0.2}}}\n";

price_row put_in(const char* asset, const std::string& strike, const std::string& upper = "",
                 std::uint64_t paths = 65536) {
    run_options options;
    if (!upper.empty()) options.overrides.upper = tests::named{upper};
    const results got =
        tests::priced(tests::market_of(asset, 0.05) +
                          "trades:\n  - {id: t, product: american, underlying: A, strike: " + strike +
                          ", maturity: 1, exercise_step: 0.1}\n",
                      paths, 42, options);
    EXPECT_EQ(got.rows.at(0).status, trade_status::priced) << got.rows[0].message;
    return got.rows[0];
}

bool says(const price_row& row, const std::string& text) {
    return row.message.find(text) != std::string::npos;
}

}  // namespace

// Normals can't hedge jumps, so the upper bound by regression is useless, while the policy is nearly optimal.
TEST(wide_bounds, after_jumps_the_price_is_what_the_policy_is_worth) {
    const double truth = put_under_jumps({}, 100, 80, 0.05, 1, 10);
    const price_row row = put_in(jumping, "80");
    const early_exercise& e = *row.early;
    ASSERT_TRUE(e.wide) << row.message;
    EXPECT_EQ(row.price, e.policy_value);
    EXPECT_EQ(row.standard_error, e.policy_error);
    EXPECT_EQ(row.part_means, e.part_means);
    // By chance one seed in 15,000 fails. The policy loses less than a hundredth of the value.
    const double errors = errors_of_normal(4, row, row.standard_error);
    EXPECT_LT(row.price - errors * row.standard_error, truth);
    EXPECT_GT(row.price + errors * row.standard_error, 0.99 * truth);
    EXPECT_GT((e.lower_bound + e.upper_bound) / 2, 1.1 * truth) << "the middle would be no price";
    EXPECT_LT(row.low, e.lower_bound);
    EXPECT_GT(row.high, e.upper_bound);
    EXPECT_TRUE(says(row, "so the price is the value of its policy; upper: nested finds a closer bound"))
        << row.message;
    EXPECT_FALSE(says(row, "more paths")) << row.message;
}

TEST(wide_bounds, the_cure_that_is_named_cures) {
    const double truth = put_under_jumps({}, 100, 80, 0.05, 1, 10);
    const price_row row = put_in(jumping, "80", "nested");
    const early_exercise& e = *row.early;
    EXPECT_FALSE(e.wide) << row.message;
    EXPECT_EQ(row.price, (e.lower_bound + e.upper_bound) / 2);
    EXPECT_LT(std::abs(row.price - truth), 0.02 * truth);
}

TEST(wide_bounds, near_bounds_leave_the_middle) {
    const price_row row = put_in("    A: {currency: USD, spot: 100, volatility: 0.2}\n", "100");
    const early_exercise& e = *row.early;
    EXPECT_FALSE(e.wide);
    EXPECT_LT(e.upper_bound - e.lower_bound, wide_above * e.policy_value);
    EXPECT_EQ(row.price, (e.lower_bound + e.upper_bound) / 2);
}

TEST(wide_bounds, parts_have_the_middle_where_both_bounds_have_them) {
    constexpr const char* asset = "    A: {currency: USD, spot: 100, volatility: 0.2}\n";
    for (const std::string upper : {"regression", "nested"}) {
        const price_row row = put_in(asset, "100", upper, 32768);
        ASSERT_FALSE(row.early->wide) << row.message;
        EXPECT_NE(row.price, row.early->policy_value) << upper;
        EXPECT_EQ(row.part_means.empty(), upper == "nested");
        EXPECT_FALSE(row.early->part_means.empty()) << upper;
        double mean = 0, of_policy = 0;
        for (const double m : row.part_means) mean += m / static_cast<double>(row.part_means.size());
        for (const double m : row.early->part_means)
            of_policy += m / static_cast<double>(row.early->part_means.size());
        EXPECT_NEAR(mean, row.part_means.empty() ? 0 : row.price, 1e-12) << upper;
        EXPECT_NEAR(of_policy, row.early->policy_value, 1e-12) << upper;
    }
}

// Nested bounds don't exist for rights with several uses, so the row must not suggest one.
TEST(wide_bounds, without_a_nested_bound_the_row_names_features) {
    const results got = tests::priced(
        tests::market_of(jumping, 0.05) +
            "trades:\n  - {id: t, product: swing, underlying: A, strike: 80, option: put, rights: 2, "
            "exercise_dates: {start: 0, end: 1, count: 6}}\n",
        16384);
    const price_row& row = got.rows.at(0);
    ASSERT_EQ(row.status, trade_status::priced) << row.message;
    ASSERT_TRUE(row.early->wide) << row.message;
    EXPECT_TRUE(says(row, "; features that look ahead find closer bounds")) << row.message;
    EXPECT_EQ(got.totals().at(0).value, row.price) << "totals take what they always took";
}

}  // namespace tilewalk::wide_bounds_test
