// SPDX-License-Identifier: Apache-2.0
// Sensitivities of trades that can be ended early, with decisions held still: against a lattice, against
// policies that are found again in moved markets, and against differences in which the policy decides anew.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

using tests::put_on;
using tests::put_on_a_lattice;

constexpr double rate = 0.06, strike = 40;
// Units of the rows: a percent of volatility, a basis point of rates.
constexpr double percent = 0.01, basis_point = 1e-4;
// Sensitivities may miss a part of what the policy misses of the best one.
constexpr double missed = 0.01;

std::string put_at(double spot, double volatility, double at_rate = rate) {
    return put_on("spot: " + std::to_string(spot) + ", volatility: " + std::to_string(volatility), at_rate,
                  "40", "{start: 0, end: 1, count: 10}");
}

std::vector<double> ten_dates() {
    std::vector<double> out;
    for (int i = 1; i <= 10; ++i) out.push_back(i / 10.0);
    return out;
}

results greeks_of(const std::string& text, const std::vector<std::string>& wanted, std::uint64_t paths,
                  const std::string& method = "auto") {
    const book b = book::parse(text);
    run_options options;
    options.overrides.paths = paths;
    options.overrides.threads = 2;
    return engine().greeks(b, *b.market(), {wanted, method}, options);
}

// The row of the only trade.
greek_row row_of(const results& of, const std::string& measure) {
    for (const greek_row& g : of.greeks)
        if (g.measure == measure) return g;
    ADD_FAILURE() << "no " << measure;
    return {};
}

// By `h` on both sides.
double slope(const std::function<double(double)>& f, double at, double h) {
    return (f(at + h) - f(at - h)) / (2 * h);
}

// One seed in 100,000 fails.
void expect_near(const greek_row& got, double truth) {
    ASSERT_FALSE(got.has_failed()) << got.message;
    ASSERT_GT(got.standard_error, 0) << got.measure;
    EXPECT_LT(got.standard_error, 0.05 * std::abs(truth)) << got.measure << ": an error that tells something";
    EXPECT_NEAR(got.value, truth, 4.5 * got.standard_error + got.bias + missed * std::abs(truth))
        << got.measure;
}

TEST(exercise_greeks, are_those_of_the_lattice) {
    const results got = greeks_of(put_at(40, 0.2), {"delta", "vega", "rho", "gamma"}, 131072);
    const auto value = [](double spot, double volatility, double at_rate) {
        return put_on_a_lattice(spot, strike, at_rate, volatility, ten_dates());
    };
    const std::map<std::string, double> truths{
        {"delta", slope([&](double x) { return value(x, 0.2, rate); }, 40, 0.2)},
        {"vega", percent * slope([&](double x) { return value(40, x, rate); }, 0.2, 0.002)},
        {"rho", basis_point * slope([&](double x) { return value(40, 0.2, x); }, rate, 0.001)},
        {"gamma", (value(40.4, 0.2, rate) - 2 * value(40, 0.2, rate) + value(39.6, 0.2, rate)) / 0.16}};
    for (const auto& [measure, truth] : truths) {
        const greek_row row = row_of(got, measure);
        EXPECT_EQ(row.method, measure == "gamma" ? "bumped_pathwise" : "pathwise");
        expect_near(row, truth);
    }
}

// Against differences of what policies are worth that are found in each market, on the same paths.
TEST(exercise_greeks, are_those_of_policies_found_again) {
    const auto worth = [](const std::string& text) { return *tests::priced(text, 131072).rows[0].early; };
    struct move {
        std::string measure;
        std::string up, down;
        double distance;
    };
    const results got = greeks_of(put_at(40, 0.2), {"delta", "vega", "rho"}, 131072);
    for (const move& m :
         {move{"delta", put_at(40.4, 0.2), put_at(39.6, 0.2), 0.8},
          move{"vega", put_at(40, 0.205), put_at(40, 0.195), 0.01 / percent},
          move{"rho", put_at(40, 0.2, rate + 0.0025), put_at(40, 0.2, rate - 0.0025), 0.005 / basis_point}}) {
        const early_exercise up = worth(m.up), down = worth(m.down);
        std::vector<double> apart;
        double sum = 0, squares = 0;
        for (std::size_t p = 0; p < up.part_means.size(); ++p) {
            apart.push_back((up.part_means[p] - down.part_means[p]) / m.distance);
            sum += apart.back();
        }
        const double parts = static_cast<double>(apart.size()), mean = sum / parts;
        for (const double a : apart) squares += (a - mean) * (a - mean);
        const double error = std::sqrt(squares / (parts * (parts - 1)));
        const greek_row row = row_of(got, m.measure);
        // Both are of the same paths, so the errors are no larger together than their sum.
        EXPECT_NEAR(row.value, (up.policy_value - down.policy_value) / m.distance,
                    4.5 * (error + row.standard_error) + missed * std::abs(row.value))
            << m.measure;
    }
}

// A difference of prices is that of two runs which follow the policy of the market between them.
TEST(exercise_greeks, differences_hold_the_policy) {
    run_options options;
    options.overrides.paths = 16384;
    options.overrides.threads = 2;
    options.keep_policies = true;
    const std::string file = testing::TempDir() + "tilewalk_exercise_greeks.json";
    std::ofstream(file) << engine().price(book::parse(put_at(40, 0.2)), options).policies;
    options.overrides.policy = file;
    const auto followed = [&](double spot) {
        return engine().price(book::parse(put_at(spot, 0.2)), options).rows[0].early->policy_value;
    };
    const greek_row row = row_of(greeks_of(put_at(40, 0.2), {"delta"}, 16384, "bump"), "delta");
    EXPECT_EQ(row.method, "bump");
    EXPECT_NEAR(row.value, (followed(40.4) - followed(39.6)) / 0.8, 1e-9);
}

// Every trade of the library's book: derivatives of paths against differences in which the policy decides
// again, on independent paths: the errors of points are less than what a policy errs by in a moved market.
// Two errors are apart by at most 5 of them, which one row in a million is not.
TEST(exercise_greeks, agree_with_differences_for_the_library) {
    const book b = book::load(std::string(TILEWALK_SOURCE_DIR) + "/configs/books/early.yaml");
    run_options options;
    options.overrides.paths = 16384;
    options.overrides.random = "philox";
    options.overrides.threads = 2;
    const auto by = [&](const std::string& method) {
        return engine().greeks(b, *b.market(), {{"delta", "vega", "rho"}, method}, options);
    };
    const results paths = by("auto"), differences = by("bump");
    std::map<std::tuple<std::string, std::string, std::string>, const greek_row*> of;
    for (const greek_row& g : differences.greeks) of[{g.trade, g.measure, g.key}] = &g;
    std::size_t compared = 0, smoothed = 0;
    for (const greek_row& g : paths.greeks) {
        // Decisions are no jumps; what is paid may have some.
        EXPECT_NE(g.method, "bump") << g.trade << " " << g.key;
        if (g.trade == "american_put") {
            EXPECT_EQ(g.method, "pathwise") << g.key;
        }
        smoothed += g.method == "smoothed";
        const auto found = of.find({g.trade, g.measure, g.key});
        if (found == of.end() || g.has_failed() || g.method == "bump") continue;
        const greek_row& other = *found->second;
        ASSERT_FALSE(other.has_failed()) << g.trade << " " << g.key << ": " << other.message;
        if (!is_figure(g.standard_error) || !is_figure(other.standard_error)) continue;
        ++compared;
        EXPECT_NEAR(g.value, other.value,
                    5 * std::hypot(g.standard_error, other.standard_error) + g.bias + other.bias +
                        missed * std::abs(other.value))
            << g.trade << " " << g.measure << " " << g.key << " " << g.method;
    }
    EXPECT_GT(compared, 30u);
    EXPECT_GT(smoothed, 0u);
}

}  // namespace
}  // namespace tilewalk
