// SPDX-License-Identifier: Apache-2.0
// The nested upper bound of a right to end a trade early, from inner paths: it covers the true value for any
// policy, is close for a good one, also for the issuer's right; its bits depend on nothing else in the run; a
// trade without one says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/exercise/nested.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/training.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/study/price.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/every_model.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tests/scenario_file.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::nested_bound_test {
namespace {

using tests::put_on;
using tests::put_on_a_lattice;

run_options with(std::uint64_t paths, const std::string& upper, int threads = 2, run_options options = {}) {
    options.overrides.paths = paths;
    options.overrides.seed = 42;
    options.overrides.threads = threads;
    options.overrides.device = "cpu";
    options.overrides.upper = tests::named{upper};
    options.overrides.random = "philox";
    return options;
}

price_row row_of(const std::string& text, std::uint64_t paths, const std::string& upper = "nested") {
    return engine().price(book::parse(text), with(paths, upper)).rows.at(0);
}

early_exercise early_of(const price_row& row) {
    EXPECT_EQ(row.status, trade_status::priced) << row.message;
    EXPECT_TRUE(row.early) << row.message;
    return row.early.value_or(early_exercise{});
}

early_exercise early_of(const std::string& text, std::uint64_t paths, const std::string& upper = "nested") {
    return early_of(row_of(text, paths, upper));
}

// A sound bound is off by more than this many errors for one seed in 300,000.
constexpr double errors = 4.5;

std::vector<double> ten_dates() {
    std::vector<double> dates;
    for (int i = 1; i <= 10; ++i) dates.push_back(i / 10.0);
    return dates;
}

std::string bermudan(const std::string& script = tests::put) {
    return put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 10}", script);
}

std::string basket(int assets, int spot) {
    std::string all, names, correlations;
    for (int i = 0; i < assets; ++i) {
        const std::string name(1, static_cast<char>('A' + i));
        all += "    " + name + ": {currency: USD, spot: " + std::to_string(spot) +
               ", volatility: 0.2, dividend_yield: 0.1}\n";
        for (int j = 0; j < i; ++j)
            correlations += std::string(correlations.empty() ? "" : ", ") + "[" + static_cast<char>('A' + j) +
                            ", " + name + ", 0]";
        names += (i > 0 ? ", " : "") + name;
    }
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n" + all +
           "  correlations: [" + correlations +
           "]\ntrades:\n  - {id: t, product: bermudan_basket, basket: [" + names +
           "], strike: 100, exercise_dates: {start: 0, end: 3, count: 9}}\n";
}

early_exercise early_by(const std::string& text, std::uint64_t paths,
                        const std::function<void(exercise::policy&)>& change) {
    const book b = book::parse(text);
    stages by;
    by.policies.change = change;
    cuda::backend gpus;
    return early_of(price_book(studies::resources({}, gpus), b, *b.market(), {with(paths, "nested")}, by)
                        .result.rows.at(0));
}

void set_value_to_come(exercise::policy& of, double to) {
    for (exercise::decision_date& d : of.dates) {
        for (exercise::fitted_side* side : {&d.paid, &d.unpaid}) side->low = side->high = to;
    }
}

}  // namespace

// Four puts: the bound of each is too low by chance for one seed in 300,000.
TEST(nested_bound, holds_puts_known_from_a_lattice) {
    for (const double spot : {36.0, 44.0}) {
        for (const double volatility : {0.2, 0.4}) {
            const double truth = put_on_a_lattice(spot, 40, 0.06, volatility, ten_dates());
            const early_exercise e = early_of(
                put_on("spot: " + std::to_string(spot) + ", volatility: " + std::to_string(volatility), 0.06,
                       "40", "{start: 0, end: 1, count: 10}"),
                16384);
            SCOPED_TRACE(std::to_string(spot) + " " + std::to_string(volatility) + ": " +
                         std::to_string(truth) + " in " + std::to_string(e.lower_bound) + " .. " +
                         std::to_string(e.upper_bound) + " +- " + std::to_string(e.upper_error));
            EXPECT_GT(e.upper_bound + errors * e.upper_error, truth);
            EXPECT_LT(e.upper_bound - errors * e.upper_error, 1.005 * truth + 0.01);
            EXPECT_EQ(e.lower_bound, e.policy_value);
            EXPECT_GT(e.upper_error, 0);
        }
    }
}

// The policy has no feature of the price. The martingale fitted with the policy then misses the price as
// well, while inner paths don't.
TEST(nested_bound, is_nearer_than_the_regression_where_features_tell_nothing) {
    std::string text = bermudan();
    text.insert(text.find("    script:"), "    features: [floor(spot(underlying) / 1000)]\n");
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, ten_dates());
    const early_exercise nested = early_of(text, 16384), fitted = early_of(text, 16384, "regression");
    EXPECT_EQ(nested.lower_bound, fitted.lower_bound) << "the policy is the same";
    EXPECT_GT(nested.upper_bound + errors * nested.upper_error, truth);
    EXPECT_LT(nested.upper_bound + errors * std::hypot(nested.upper_error, fitted.upper_error),
              fitted.upper_bound);
}

// Andersen and Broadie (2004): 13.902 for the larger of two assets.
TEST(nested_bound, is_within_a_hundredth_of_the_call_on_the_larger_of_two) {
    const early_exercise e = early_of(basket(2, 100), 65536);
    SCOPED_TRACE(std::to_string(e.lower_bound) + " .. " + std::to_string(e.upper_bound) + " +- " +
                 std::to_string(e.upper_error));
    EXPECT_GT(e.upper_bound + errors * e.upper_error, 13.902);
    EXPECT_LT(e.upper_bound, 1.01 * 13.902);
    EXPECT_LT(e.upper_error, 0.03);
}

// Andersen and Broadie (2004): between 26.115 and 26.211 for the largest of five assets.
TEST(nested_bound, is_near_the_call_on_the_largest_of_five) {
    const early_exercise e = early_of(basket(5, 100), 32768);
    SCOPED_TRACE(std::to_string(e.lower_bound) + " .. " + std::to_string(e.upper_bound) + " +- " +
                 std::to_string(e.upper_error));
    EXPECT_GT(e.upper_bound + errors * e.upper_error, 26.115);
    EXPECT_LT(e.upper_bound - errors * e.upper_error, 1.01 * 26.2);
}

// One date leaves no decision: the bound on each outer path is the mean of its inner paths, so the whole is
// the European on all of these.
TEST(nested_bound, is_the_mean_of_all_inner_paths_where_nothing_is_decided) {
    const std::string on = "spot: 36, volatility: 0.2";
    const auto plainly_priced = [](const std::string& text) {
        return engine().price(book::parse(text), with(16384, "nested", 2, tests::plain_paths())).rows.at(0);
    };
    const early_exercise e = early_of(plainly_priced(put_on(on, 0.06, "40", "[1.0]")));
    const price_row european = plainly_priced(
        put_on(on, 0.06, "40", "[1.0]", "on dates:\n    pay max(strike - spot(underlying), 0)\n"));
    EXPECT_NEAR(e.upper_bound, put_on_a_lattice(36, 40, 0.06, 0.2, {1.0}), errors * e.upper_error + 1e-4);
    // 256 outer paths give their own error within a standard deviation of 1/22; it must match that of 256 *
    // 1024 paths of the European within five of these.
    const double expected = european.standard_error * std::sqrt(16384.0 / (256 * 1024));
    EXPECT_NEAR(e.upper_error / expected, 1, 5.0 / 22);
}

// Inner means on two dates must be independent. A policy that waits though 50 is paid gains 50 less the mean
// of the later date's inner paths plus the mean of the earlier date's. Payoffs depend on the time after both
// dates, so nothing else moves the bound.
TEST(nested_bound, has_inner_paths_of_its_own_for_each_date) {
    const early_exercise e = early_by(put_on("spot: 100, volatility: 0.2", 0, "100", "[0.5, 1.0]",
                                             "seen = 1\nratio = 1\non dates:\n    ratio = spot(underlying) / "
                                             "seen\n    seen = spot(underlying)\n"
                                             "exercise on first(dates): receive 50\n"
                                             "on last(dates):\n    pay strike * max(ratio - 1, 0)\n"),
                                      16384, [](exercise::policy& of) { set_value_to_come(of, 1e9); });
    const price_row later =
        engine()
            .price(book::parse(put_on("spot: 100, volatility: 0.2", 0, "100", "[0.5]",
                                      "on dates:\n    pay max(spot(underlying) - strike, 0)\n")),
                   with(16384, "nested", 2, tests::plain_paths()))
            .rows.at(0);
    EXPECT_NEAR(e.upper_bound, 50, errors * e.upper_error);
    // The error of a bound that is the mean of 256 outer paths with one inner mean.
    const double of_one_mean = later.standard_error * std::sqrt(16384.0 / (256 * 1024));
    EXPECT_NEAR(e.upper_error / (std::sqrt(2) * of_one_mean), 1, 5.0 / 22);
}

// The martingale must include what is paid after the last date: at half a year the holder may take 40 less
// the price, or keep a call that ends at one year.
TEST(nested_bound, follows_what_comes_after_the_last_date) {
    constexpr double spot = 40, strike = 40, rate = 0.06, volatility = 0.3, half = 0.5;
    const auto cdf = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
    const auto call = [&](double s) {
        const double sd = volatility * std::sqrt(half), discount = std::exp(-rate * half);
        const double d = std::log(s / (strike * discount)) / sd + sd / 2;
        return s * cdf(d) - strike * discount * cdf(d - sd);
    };
    double truth = 0;
    constexpr double step = 1e-3;
    for (double z = -9; z < 9; z += step) {
        const double s =
            spot * std::exp((rate - volatility * volatility / 2) * half + volatility * std::sqrt(half) * z);
        truth += std::exp(-z * z / 2) / std::sqrt(2 * M_PI) * step * std::max(strike - s, call(s));
    }
    truth *= std::exp(-rate * half);
    const early_exercise e =
        early_of(put_on("spot: 40, volatility: 0.3", rate, "40", "[0.5, 1.0]",
                        "exercise on first(dates): receive strike - spot(underlying)\non last(dates):\n"
                        "    pay max(spot(underlying) - strike, 0)\n"),
                 16384);
    SCOPED_TRACE(std::to_string(truth) + ": " + std::to_string(e.upper_bound) + " +- " +
                 std::to_string(e.upper_error));
    EXPECT_GT(e.upper_bound + errors * e.upper_error, truth);
    EXPECT_LT(e.upper_bound - errors * e.upper_error, 1.005 * truth);
    EXPECT_LT(e.upper_error, 0.005 * truth);
}

TEST(nested_bound, bounds_the_issuers_right_from_below) {
    const std::string mirror = "call on dates: pay -max(strike - spot(underlying), 0)\n";
    const early_exercise issuer = early_of(bermudan(mirror), 16384), holder = early_of(bermudan(), 16384);
    const double truth = -put_on_a_lattice(36, 40, 0.06, 0.2, ten_dates());
    EXPECT_LT(issuer.lower_bound - errors * issuer.lower_error, truth);
    EXPECT_GT(issuer.lower_bound + errors * issuer.lower_error, 1.005 * truth - 0.01);
    EXPECT_EQ(issuer.policy_value, issuer.upper_bound);
    EXPECT_NEAR(issuer.lower_bound, -holder.upper_bound,
                errors * std::hypot(issuer.lower_error, holder.upper_error));
}

// A callable bond under stochastic rates: nested and regression bounds agree, but for one seed in 300,000.
TEST(nested_bound, bounds_a_callable_bond) {
    const std::string text =
        "market:\n  as_of: 2026-01-15\n  currencies:\n    USD: {rate: 0.03, model: {hull_white: "
        "{mean_reversion: "
        "0.05, volatility: 0.01}}}\ntrades:\n  - {id: t, product: callable_bond, currency: USD, "
        "coupon_dates: "
        "{start: 0, end: 6, count: 6}, coupon: 0.035, call_dates: [2.0, 3.0, 4.0, 5.0]}\n";
    const early_exercise nested = early_of(text, 16384), fitted = early_of(text, 65536, "regression");
    EXPECT_EQ(nested.upper_bound, nested.policy_value);
    EXPECT_LT(nested.lower_bound,
              fitted.upper_bound + errors * std::hypot(nested.lower_error, fitted.upper_error));
    EXPECT_GT(nested.lower_bound,
              fitted.lower_bound - errors * std::hypot(nested.lower_error, fitted.lower_error));
}

// A policy trained on 20 paths, one that exercises whenever that pays, and one that never exercises. The
// first two lose much.
TEST(nested_bound, holds_the_truth_whatever_the_policy) {
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, ten_dates());
    run_options few = with(16384, "nested");
    few.overrides.training_paths = 20;
    const early_exercise trained_badly = early_of(engine().price(book::parse(bermudan()), few).rows.at(0));
    const early_exercise at_once =
        early_by(bermudan(), 16384, [](exercise::policy& p) { set_value_to_come(p, 0); });
    const early_exercise late =
        early_by(bermudan(), 16384, [](exercise::policy& p) { set_value_to_come(p, 100); });
    EXPECT_LT(at_once.lower_bound, 0.99 * truth);
    EXPECT_LT(late.lower_bound, 0.97 * truth);
    for (const early_exercise& e : {trained_badly, at_once, late}) {
        SCOPED_TRACE(std::to_string(e.lower_bound) + " .. " + std::to_string(e.upper_bound));
        EXPECT_GT(e.upper_bound + errors * e.upper_error, truth);
        EXPECT_GT(e.upper_bound, e.lower_bound);
    }
}

// A right used today, a right between dates, one that depends on the path, one after which the trade stops on
// its date, and payments before the end: the nested bound lies between the regression's bounds.
TEST(nested_bound, agrees_with_the_regression_on_all_kinds_of_rights) {
    const std::string now = "{start: 0, end: 1, count: 8, include_start: true}", later =
                                                                                     "{start: 0, end: 1, "
                                                                                     "count: 8}";
    struct one {
        std::string what, dates, script;
    };
    const std::vector<one> all{
        {"today", now, tests::put},
        {"steps", "[1.0]",
         "exercise between start and last(dates) every 0.125: receive max(strike - spot(underlying), 0)\n"},
        {"once low", later,
         "low = 1000\non dates:\n    low = min(low, spot(underlying))\nexercise on dates:\n"
         "    if low < 35:\n        receive max(strike - spot(underlying), 0)\n"},
        {"stops behind", later,
         "exercise on dates: receive max(strike - spot(underlying), 0)\non dates:\n"
         "    if spot(underlying) < 33:\n        stop\n"},
        {"watched behind", later,
         "exercise on dates:\n    receive max(strike - spot(underlying), 0)\n"
         "between start and last(dates):\n    if lowest(underlying) < 33:\n        stop\n"},
        {"pays", later,
         "on dates:\n    pay 0.1 * max(spot(underlying) - strike, 0)\n" + tests::put +
             "on last(dates):\n    pay 1\n"},
        {"two rights", later,
         tests::put + "exercise on dates:\n    receive 0.5 * max(spot(underlying) - strike, 0)\n"}};
    for (const one& of : all) {
        const std::string text = put_on("spot: 40, volatility: 0.3", 0.06, "40", of.dates, of.script);
        const early_exercise nested = early_of(text, 16384), fitted = early_of(text, 32768, "regression");
        SCOPED_TRACE(of.what + ": " + std::to_string(nested.upper_bound) + " +- " +
                     std::to_string(nested.upper_error) + ", fitted " + std::to_string(fitted.lower_bound) +
                     " .. " + std::to_string(fitted.upper_bound) + " +- " +
                     std::to_string(fitted.upper_error));
        EXPECT_GT(nested.upper_bound,
                  fitted.lower_bound - errors * std::hypot(nested.upper_error, fitted.lower_error));
        EXPECT_LT(nested.upper_bound,
                  fitted.upper_bound + 0.02 + errors * std::hypot(nested.upper_error, fitted.upper_error));
    }
}

// The note is called on the first date: its coupon is 12 % and rates are 3 %.
TEST(nested_bound, is_the_price_where_nothing_is_random) {
    const early_exercise e = early_of(
        put_on(
            "spot: 100, volatility: 0.2", 0.03, "100", "[1.0, 2.0, 3.0]",
            "on dates:\n    pay 12 + 0 * spot(underlying)\ncall on dates: pay strike\non last(dates):\n    "
            "pay strike\n"),
        4096);
    EXPECT_NEAR(e.upper_bound, 112 * std::exp(-0.03), 1e-9);
    EXPECT_NEAR(e.lower_bound, 112 * std::exp(-0.03), 1e-9);
    EXPECT_NEAR(e.lower_error, 0, 1e-9);
}

TEST(nested_bound, follows_jumps) {
    const std::string text = put_on(
        "spot: 40, model: {merton: {volatility: 0.1, jump_intensity: 1, jump_mean: -0.2, jump_sd: 0.1}}",
        0.06, "40", "{start: 0, end: 1, count: 5}");
    const early_exercise nested = early_of(text, 16384), fitted = early_of(text, 65536, "regression");
    EXPECT_GT(nested.upper_bound,
              fitted.lower_bound - errors * std::hypot(nested.upper_error, fitted.lower_error));
    EXPECT_LT(nested.upper_bound + errors * std::hypot(nested.upper_error, fitted.upper_error),
              fitted.upper_bound);
}

TEST(nested_bound, has_bits_that_nothing_else_in_the_run_moves) {
    const early_exercise one =
        early_of(engine().price(book::parse(bermudan()), with(8192, "nested", 1)).rows[0]);
    run_options other = with(8192, "nested", 3);
    other.overrides.precision = precision::single;
    const std::string beside =
        bermudan() + "  - {id: u, product: european, underlying: A, option: put, strike: 40, maturity: 1}\n" +
        "  - {id: v, product: p, underlying: A, strike: 41, dates: [0.5, 1.0]}\n";
    const results got = engine().price(book::parse(beside), other);
    const early_exercise two = early_of(got.rows[0]);
    EXPECT_EQ(one.upper_bound, two.upper_bound);
    EXPECT_EQ(one.upper_error, two.upper_error);
    EXPECT_NE(one.lower_bound, two.lower_bound) << "which is walked in single";
    EXPECT_EQ(got.manifest.settings.upper, upper_bound::nested);
    for (const std::string& set : engine::instruction_sets()) {
        engine_settings settings;
        settings.instruction_set = set;
        EXPECT_EQ(early_of(engine(settings).price(book::parse(bermudan()), with(8192, "nested")).rows[0])
                      .upper_bound,
                  one.upper_bound)
            << set;
    }
    run_options seeded = with(8192, "nested");
    seeded.overrides.seed = 43;
    EXPECT_NE(early_of(engine().price(book::parse(bermudan()), seeded).rows[0]).upper_bound, one.upper_bound);
}

// Inner paths that start today follow the policy on the paths of the price, bit for bit.
TEST(nested_bound, inner_paths_of_today_are_those_that_follow_the_policy) {
    const book b = book::parse(bermudan());
    const books::trade& t = state_of(b).trades.at(0);
    const markets::market_state& in = state_of(*b.market());
    const cpu::lane_operations& operations = *cpu::runnable_instruction_sets().sets[0];
    const exercise::policy by =
        exercise::trained(*exercise::untrained_of(t, in, 4096, {}), {7, &operations, 1});
    const plan::trade_program follows = exercise::following_plan(t, in, by, program::precision::double_, {});
    exercise::nested_program nested = exercise::nested_plan(t, in, by, {});
    ASSERT_EQ(nested.decisions.size(), 10u);
    const auto walked = [&](const plan::trade_program& made) {
        const cpu::lane_program code = cpu::compile(made.code);
        const cpu::path_job job{&code, &made.data, &made.when, 11, 3000};
        return cpu::walk_all({&job, 1}, operations, 2, nullptr, {}).at(0).whole().moments;
    };
    const kernels::moments expected = walked(follows), outer = walked(nested.made);
    EXPECT_EQ(outer.mean, 0) << "nobody uses the right";
    nested.made.data.initial_states[nested.at.is_inner] = 1;
    const kernels::moments inner = walked(nested.made);
    EXPECT_EQ(inner.mean, expected.mean);
    EXPECT_EQ(inner.m2, expected.m2);
}

// A path started from the state of another, with the other's seed and number, ends as it does, in any model
// and from any date.
TEST(nested_bound, paths_go_on_as_those_whose_states_they_take) {
    const std::string plain =
        "low = 1000\nexercise on dates: receive max(strike - spot(underlying), 0)\non dates:\n"
        "    low = min(low, spot(underlying))\non last(dates):\n    pay spot(underlying) + low\n";
    const std::string watched =
        "low = 1000\nexercise on dates: receive max(strike - spot(underlying), 0)\n"
        "between start and last(dates):\n    low = min(low, lowest(underlying))\non last(dates):\n"
        "    pay spot(underlying) + low\n";
    std::vector<std::pair<std::string, std::string>> all{{every_model().at("black_scholes"), watched}};
    for (const auto& [name, asset] : every_model()) all.emplace_back(asset, plain);
    const cpu::lane_operations& operations = *cpu::runnable_instruction_sets().sets[0];
    for (const auto& [asset, script] : all) {
        const book b =
            book::parse(put_on("spot: 100, " + asset, 0.03, "100", "[0.3, 0.5, 0.75, 1.0]", script));
        const books::trade& t = state_of(b).trades.at(0);
        const markets::market_state& in = state_of(*b.market());
        const exercise::policy by =
            exercise::trained(*exercise::untrained_of(t, in, 1024, {}), {7, &operations, 2});
        const exercise::nested_program of = exercise::nested_plan(t, in, by, {});
        ASSERT_EQ(of.decisions.size(), 4u) << asset;
        const cpu::lane_program code = cpu::compile(of.made.code);
        std::vector<std::uint32_t> states;
        for (std::uint32_t s = 0; s < of.made.code.states.size(); ++s) states.push_back(s);
        const std::size_t section = of.decisions[0].section;
        cpu::left_numbers leaves;
        leaves.sections.resize(section + 1);
        leaves.sections[section].states = states;
        std::vector<double> left(4 * states.size());
        leaves.array = left.data();
        leaves.pitch = 1;
        cpu::lane_machine machine(operations);
        std::vector<cpu::tile_result> whole(code.results()), rest(code.results());
        cpu::path_job job{&code, &of.made.data, &of.made.when, 5, 1};
        job.leaves = &leaves;
        machine.walk(job, 0, whole);
        job.leaves = nullptr;
        EXPECT_NE(whole[0].moments.mean, 0) << asset;
        for (const exercise::nested_program::decision& d : of.decisions) {
            const cpu::way_begun begun{d.step, d.events, left.data() + d.run * states.size(), 1};
            job.begun = &begun;
            machine.walk(job, 0, rest);
            EXPECT_EQ(rest[0].moments.mean, whole[0].moments.mean) << asset << ", date " << d.run;
        }
    }
}

// With a nested bound, sensitivities stay derivatives of the policy's value, and rows of prices are
// unchanged.
TEST(nested_bound, changes_no_sensitivity) {
    const book b = book::parse(bermudan());
    const auto greeks = [&](const std::string& upper) {
        return engine().greeks(b, *b.market(), {{"delta"}}, with(16384, upper));
    };
    const results nested = greeks("nested"), fitted = greeks("regression");
    ASSERT_FALSE(nested.greeks.empty());
    ASSERT_EQ(nested.greeks.size(), fitted.greeks.size());
    EXPECT_EQ(nested.greeks[0].value, fitted.greeks[0].value);
    EXPECT_EQ(nested.greeks[0].standard_error, fitted.greeks[0].standard_error);
    EXPECT_EQ(nested.rows.at(0).price, row_of(bermudan(), 16384).price);
    EXPECT_EQ(fitted.rows.at(0).price, row_of(bermudan(), 16384, "regression").price);
}

TEST(nested_bound, says_why_there_is_none) {
    struct one {
        std::string script, says;
    };
    const std::vector<one> all{
        {"exercise on dates at most 2 times: receive max(strike - spot(underlying), 0)\n",
         "its bound comes from the regression, as it has no nested one: the right may be used several "
         "times"},
        {"exercise on dates with notice 30 days: receive max(strike - spot(underlying), 0)\n",
         "its bound comes from the regression, as it has no nested one: rights have notice"},
        {tests::put + "call on dates: pay 50\n", "without a bound: both sides have rights"}};
    for (const one& of : all) {
        const price_row nested = row_of(bermudan(of.script), 4096);
        EXPECT_NE(nested.message.find(of.says), std::string::npos) << nested.message;
        const price_row fitted = row_of(bermudan(of.script), 4096, "regression");
        EXPECT_EQ(nested.price, fitted.price);
        EXPECT_EQ(fitted.message.find("nested"), std::string::npos) << fitted.message;
    }
    EXPECT_EQ(row_of(bermudan(), 4096).message.find("regression"), std::string::npos);
    const tests::scenario_file volatilities(2, 4096);
    const std::string by_scenarios =
        put_on("spot: 36, volatility: {scenarios: " + volatilities.name() + ", times: [0.5, 1.0]}", 0.06,
               "40", "[0.5, 1.0]");
    const price_row row = row_of(by_scenarios, 4096);
    EXPECT_NE(row.message.find("as it has no nested one: it takes scenarios of the market"),
              std::string::npos)
        << row.message;
    EXPECT_EQ(row.price, row_of(by_scenarios, 4096, "regression").price);
}

// With 64 outer paths, memory has room for a million numbers of each.
TEST(nested_bound, of_very_many_dates_has_no_room) {
    exercise::nested_program of;
    of.made.code.states.resize(10);
    of.made.code.sections.resize(3);
    of.made.data.runs = {1, 100000, 1};
    of.decisions.push_back({1, 0, 0, 1});
    EXPECT_EQ(exercise::why_not_nested(of), "");
    of.made.data.runs[1] = 104858;
    EXPECT_EQ(exercise::why_not_nested(of),
              "it would keep 1048581 numbers of each outer path, at most 1048576 have room");
}

TEST(nested_bound, is_told_of_and_can_be_stopped) {
    std::vector<progress> seen;
    run_options options = with(16384, "nested");
    options.on_progress = [&](const progress& p) { seen.push_back(p); };
    engine().price(book::parse(bermudan()), options);
    ASSERT_FALSE(seen.empty());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_LE(seen[i].path_steps_done, seen[i].path_steps);
        if (i == 0) continue;
        EXPECT_GE(seen[i].path_steps_done, seen[i - 1].path_steps_done);
    }
    EXPECT_EQ(seen.back().path_steps_done, seen.back().path_steps);
    // Steps: 256 outer paths, each with 1,024 inner paths from today and from each date but the last.
    const std::uint64_t priced = 16384 * 10, nested = 256 * (10 + 1024 * (10 + 45));
    EXPECT_EQ(seen.back().path_steps, priced + nested);
    std::atomic<bool> stop{false};
    options.cancel = &stop;
    options.overrides.paths = 65536;
    options.on_progress = [&](const progress& p) {
        if (p.path_steps_done > 65536 * 10) stop = true;
    };
    try {
        engine().price(book::parse(basket(5, 100)), options);
        ADD_FAILURE() << "the run went on";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::cancelled) << e.what();
    }
}

TEST(nested_bound, of_few_paths_has_few) {
    EXPECT_EQ(exercise::outer_paths_for(1), 1u);
    EXPECT_EQ(exercise::outer_paths_for(1000), 64u);
    EXPECT_EQ(exercise::outer_paths_for(65536), 1024u);
    EXPECT_EQ(exercise::outer_paths_for(10000000), 2048u);
    const early_exercise e = early_of(bermudan(), 1);
    EXPECT_TRUE(std::isfinite(e.upper_bound));
}

}  // namespace tilewalk::nested_bound_test
