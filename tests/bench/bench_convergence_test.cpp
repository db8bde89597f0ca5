// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of path-steps)
// The suite `convergence` on the CPU: every trade has rows of all sources of random numbers, errors match the
// spread of prices over seeds, points gain what is known of them, and fitted lines are right.
#include "bench/suites/convergence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tilewalk/benchmark.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_convergence_test {
namespace {

using convergence::example;
using convergence::line;

const example& named(std::string_view name) {
    for (const example& e : convergence::examples())
        if (e.name == name) return e;
    throw std::logic_error("no example " + std::string(name));
}

std::vector<row> measured(const example& of, std::uint64_t most_paths, int seeds,
                          const std::string& precision = "double") {
    convergence::place at{"cpu", precision};
    at.most_paths = most_paths;
    at.seeds = seeds;
    at.is_timed = false;
    std::vector<row> out;
    convergence::measure(
        at, of, {}, [](const std::string&) {}, nullptr, [&](row r) { out.push_back(std::move(r)); });
    return out;
}

std::vector<std::string> sources() {
    std::vector<std::string> out{"philox none"};
    for (const std::string_view name : quasi::construction_names) out.push_back("sobol " + std::string(name));
    out.insert(out.end(),
               {"sobol auto", "philox none controls", "sobol auto controls", "philox none importance",
                "sobol auto controls importance", "philox none pairs", "sobol auto preintegration"});
    return out;
}
std::string source_of(const row& r) {
    return r.axes.at("random").get<std::string>() + ' ' + r.axes.at("construction").get<std::string>() +
           (r.axes.contains("controls") ? " controls" : "") +
           (r.axes.contains("importance") ? " importance" : "") +
           (r.axes.contains("antithetic") ? " pairs" : "") +
           (r.axes.contains("preintegration") ? " preintegration" : "");
}

const row& row_with(const std::vector<row>& rows, const std::string& source, double paths) {
    for (const row& r : rows)
        if (r.suite == "convergence" && source_of(r) == source && r.axes.at("paths") == paths) return r;
    throw std::logic_error("no row of " + source);
}
double figure(const row& r, const char* name) {
    return r.figures.at(name).get<double>();
}

// Prices must agree within five standard errors: a sound engine fails for one seed in 8,000 (200 rows).
TEST(bench_convergence, every_trade_has_a_row_of_every_source) {
    EXPECT_GE(convergence::examples().size(), 12u);
    std::set<std::string> keys;
    for (const example& e : convergence::examples()) {
        const std::vector<row> rows = measured(e, convergence::fewest_paths, 1);
        std::vector<std::string> there;
        for (const row& r : rows) {
            EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
            EXPECT_TRUE(r.is_result()) << key_of(r) << ": " << r.wrong << r.skipped;
            EXPECT_EQ(r.axes.at("case"), e.name);
            EXPECT_EQ(r.axes.at("precision"), "double");
            EXPECT_EQ(r.axes.at("device"), "cpu");
            EXPECT_FALSE(r.figures.contains("milliseconds")) << key_of(r);
            if (r.suite != "convergence") continue;
            there.push_back(source_of(r));
            EXPECT_EQ(r.axes.at("paths"), convergence::fewest_paths);
            EXPECT_GT(figure(r, "error_bp"), 0) << key_of(r);
            EXPECT_EQ(r.figures.contains("fewer_paths"), there.back() != "philox none") << key_of(r);
        }
        EXPECT_EQ(there, sources()) << e.name;
        EXPECT_EQ(rows.size(), 2 * there.size()) << "a row for each line of one point";
    }
}

struct priced {
    double mean = 0, deviation = 0;
    double stated = 0;  // root mean square of the stated standard errors
};
// Prices of `runs` runs with seeds that the suite does not use: mean, spread and stated error.
priced prices_of(const example& of, const row& from, int runs) {
    const std::string random = from.axes.at("random");
    run_options options = tests::plain_paths();
    options.overrides.device = "cpu";
    options.overrides.random = random;
    if (random == "sobol")
        options.overrides.construction = tests::named{from.axes.at("construction").get<std::string>()};
    if (from.axes.contains("controls"))
        options.overrides.controls = tests::named{from.axes.at("controls").get<std::string>()};
    if (from.axes.contains("importance"))
        options.overrides.importance = tests::named{from.axes.at("importance").get<std::string>()};
    options.overrides.paths = convergence::fewest_paths;
    if (from.axes.contains("antithetic")) {
        options.overrides.antithetic = tests::named{from.axes.at("antithetic").get<std::string>()};
        options.overrides.paths = convergence::fewest_paths / 2;
    }
    const book b = book::parse(of.book());
    const engine e;
    std::vector<double> prices;
    double squares = 0;
    for (int i = 0; i < runs; ++i) {
        options.overrides.seed = 10000 + static_cast<std::uint64_t>(i);
        const price_row row = e.price(b, options).rows.at(0);
        prices.push_back(row.price);
        squares += row.standard_error * row.standard_error;
    }
    priced out;
    out.stated = std::sqrt(squares / runs);
    for (const double p : prices) out.mean += p / runs;
    for (const double p : prices) out.deviation += (p - out.mean) * (p - out.mean) / (runs - 1);
    out.deviation = std::sqrt(out.deviation);
    return out;
}

// An error's logarithm has a standard error of 0.089 if it is the spread of 64 prices, 0.044 if from 256
// randomisations, 0.1 together; one of 1.7 million sound rows exceeds five of these. Among pilots of points
// with controls a quarter find no control, and the run errs five times as much. Four runs can't show how
// often, so the errors that the 64 runs state are used: some 16 runs dominate, and the bound of 0.5 is then
// three errors.
TEST(bench_convergence, errors_are_how_much_prices_of_other_seeds_differ) {
    const example& of = named("asian_12");
    const std::vector<row> rows = measured(of, convergence::fewest_paths, 4);
    for (const std::string& source : sources()) {
        const row& r = row_with(rows, source, convergence::fewest_paths);
        const priced found = prices_of(of, r, 64);
        const double error = source == "sobol auto controls" ? 100 * found.stated : figure(r, "error_bp");
        EXPECT_LT(std::abs(std::log(error / (100 * found.deviation))), 0.5)
            << source << ": " << error << " and " << 100 * found.deviation;
        // Number of runs that the row's price is a mean of: one for independent paths, 16 for points.
        const double runs = r.axes.at("random") == "philox" ? 1 : 16;
        EXPECT_NEAR(figure(r, "price"), found.mean, 5 * found.deviation * std::sqrt(1 / runs + 1.0 / 64))
            << source;
    }
}

// A digital pays one of two amounts, so Black's formula for the chance of the higher one gives the error.
// Near one half, the error that 16,384 paths estimate is right to 0.01 %.
TEST(bench_convergence, the_error_of_independent_paths_is_that_of_the_law) {
    const example& of = named("digital");
    const row r =
        row_with(measured(of, convergence::fewest_paths, 1), "philox none", convergence::fewest_paths);
    const double d2 = (0.05 - 0.02) / 0.2, p = 0.5 * std::erfc(-d2 / std::sqrt(2.0));
    const double expected = 1e4 * std::exp(-0.05) * std::sqrt(p * (1 - p) / convergence::fewest_paths);
    EXPECT_NEAR(figure(r, "error_bp"), expected, 0.005 * expected);
    EXPECT_EQ(r.figures.at("bp_of"), "notional");
}

// The expected ratio on so few paths is 546 +- 47. For less than 50 the variance of 256 randomisations would
// have to be eleven times too large, which happens for no seed of a sound engine.
TEST(bench_convergence, bridges_gain_much_on_an_asian_of_252_dates) {
    const std::vector<row> rows = measured(named("asian_252"), convergence::fewest_paths, 4);
    const row &bridge = row_with(rows, "sobol bridge", convergence::fewest_paths),
              &philox = row_with(rows, "philox none", convergence::fewest_paths);
    const double ratio = figure(bridge, "fewer_paths");
    EXPECT_GT(ratio, 50);
    EXPECT_NEAR(ratio, std::pow(figure(philox, "error_bp") / figure(bridge, "error_bp"), 2), 1e-9 * ratio);
    EXPECT_GT(figure(bridge, "fewer_paths_noise"), 0.03 * ratio);
    EXPECT_LT(figure(bridge, "fewer_paths_noise"), 0.3 * ratio);
    EXPECT_EQ(bridge.figures.at("steps"), 252);
}

TEST(bench_convergence, samples_have_a_spread_that_says_how_well_it_is_known) {
    const std::vector<double> values{1, 2, 4, 9};
    const convergence::sample s = convergence::sample_of(values);
    EXPECT_DOUBLE_EQ(s.mean, 4);
    EXPECT_DOUBLE_EQ(s.variance, 38.0 / 3);
    // About the mean, squares average 9.5 and fourth powers 180.5; 9.5^2 is 90.25.
    EXPECT_NEAR(s.noise, std::sqrt((180.5 / 90.25 - 1.0 / 3) / 4), 1e-12);
    const std::vector<double> one{1};
    EXPECT_THROW(convergence::sample_of(one), error);
}

TEST(bench_convergence, prices_that_are_not_those_of_independent_paths_are_wrong) {
    // Standard errors of 0.3 and 0.4, together 0.5.
    const convergence::sample means{10, 23.04, 256, 0.1}, payoffs{12.49, 1600, 10000, 0.01};
    EXPECT_EQ(convergence::why_wrong(means, payoffs), "");
    convergence::sample away = payoffs;
    away.mean = 12.51;
    EXPECT_NE(convergence::why_wrong(means, away).find("further apart than 5 errors of 0.5"),
              std::string::npos)
        << convergence::why_wrong(means, away);
    away.mean = 7.49;
    EXPECT_NE(convergence::why_wrong(means, away), "");
    convergence::sample all_alike = means;
    all_alike.variance = 0;
    EXPECT_EQ(convergence::why_wrong(all_alike, payoffs), "all randomisations have the same mean");
}

TEST(bench_convergence, slopes_are_those_of_power_laws) {
    line of;
    for (const double paths : {1000.0, 2000.0, 4000.0, 8000.0})
        of.push_back({paths, 3 * std::pow(paths, -0.8)});
    const auto exact = convergence::slope_of(of, std::vector<double>(4, 0.1));
    ASSERT_TRUE(exact);
    EXPECT_NEAR(exact->value, -0.8, 1e-12);
    // Four points, each a factor of 2 from the next: the squares about the mean of their logarithms sum to 5.
    EXPECT_NEAR(exact->noise, 0.1 / (std::log(2.0) * std::sqrt(5.0)), 1e-12);
    EXPECT_FALSE(convergence::slope_of({{1000, 1}}, std::vector<double>{0.1}));
}

TEST(bench_convergence, a_basis_point_is_read_off_a_line) {
    const line of{{1000, 4, 2}, {2000, 2, 4}, {4000, 0.5, 8}};
    const auto between = convergence::place_of(1, of, -1);
    ASSERT_TRUE(between);
    EXPECT_EQ(between->found, "interpolated");
    EXPECT_NEAR(between->paths, 2000 * std::sqrt(2.0), 1e-9);
    EXPECT_NEAR(between->milliseconds, 4 * std::sqrt(2.0), 1e-12);
    const auto beyond = convergence::place_of(0.25, of, -0.5);
    ASSERT_TRUE(beyond);
    EXPECT_EQ(beyond->found, "extrapolated");
    EXPECT_NEAR(beyond->paths, 16000, 1e-9);
    EXPECT_NEAR(beyond->milliseconds, 32, 1e-12);
    EXPECT_FALSE(convergence::place_of(0.25, of, 0.1));
    const auto first = convergence::place_of(5, of, -1);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->found, "at most");
    EXPECT_EQ(first->paths, 1000);
    EXPECT_EQ(first->milliseconds, 2);
}

TEST(bench_convergence, precisions_of_a_gpu_are_skipped_on_the_processor) {
    benchmark_request asked;
    asked.suite = "convergence";
    asked.subject = "digital";
    asked.precisions = {"single_fast"};
    asked.device = "cpu";
    asked.is_timed = false;
    const benchmark_results got = measure(asked);
    EXPECT_EQ(got.wrong(), 0u);
    EXPECT_NE(got.text(output_format::table).find("1 row skipped: this precision"), std::string::npos)
        << got.text(output_format::table);
}

TEST(bench_convergence, figures_of_time_follow_from_rows) {
    const stop_rule short_rule{1, 1, 1, 0};
    convergence::place at{"cpu", "double"};
    at.most_paths = 2 * convergence::fewest_paths;
    at.seeds = 1;
    std::vector<row> rows;
    convergence::measure(
        at, named("asian_12"), short_rule, [](const std::string&) {}, nullptr,
        [&](row r) { rows.push_back(std::move(r)); });
    const double paths = convergence::fewest_paths;
    const row &philox = row_with(rows, "philox none", paths), &bridge = row_with(rows, "sobol bridge", paths);
    EXPECT_NEAR(figure(bridge, "ratio_at_equal_time"),
                std::pow(figure(philox, "error_bp"), 2) * figure(philox, "milliseconds") /
                    (std::pow(figure(bridge, "error_bp"), 2) * figure(bridge, "milliseconds")),
                1e-9 * figure(bridge, "ratio_at_equal_time"));
    for (const row& r : rows) {
        if (r.suite == "convergence") continue;
        EXPECT_EQ(r.suite, "convergence_to_1bp");
        EXPECT_TRUE(r.is_result()) << key_of(r) << r.wrong;
        EXPECT_FALSE(r.axes.contains("paths"));
        EXPECT_GT(figure(r, "time_to_1bp_milliseconds"), 0) << key_of(r);
        EXPECT_EQ(r.figures.contains("slope"), !source_of(r).starts_with("philox none"));
    }
}

TEST(bench_convergence, take_a_trade_precisions_and_paths) {
    benchmark_request asked;
    asked.suite = "convergence";
    asked.subject = "heston";
    asked.paths = convergence::fewest_paths;
    asked.precisions = {"single", "double"};
    EXPECT_NO_THROW(check(asked));
    const auto refused = [&](const std::string& expected) {
        try {
            check(asked);
            ADD_FAILURE() << "taken, expected: " << expected;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_NE(e.message().find(expected), std::string::npos) << e.message();
        }
    };
    asked.subject = "hestn";
    refused("did you mean 'heston'");
    asked.subject.clear();
    asked.paths = convergence::fewest_paths - 1;
    refused("expected 16384 or more");
    asked.paths = 0;
    asked.precisions = {"duble"};
    refused("did you mean 'double'");
    asked.precisions.clear();
    asked.widths = {4};
    refused("no choice of widths");
}

}  // namespace
}  // namespace tilewalk::bench::bench_convergence_test
