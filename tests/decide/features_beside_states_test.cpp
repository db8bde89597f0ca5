// SPDX-License-Identifier: Apache-2.0
// Policy features beside the states of the path: the European option's value for the rest of the life narrows
// the bounds of a put if the model has a formula, and is left out otherwise, with all rights and policies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/plain_paths.h"
#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::features_beside_states_test {
namespace {

using tests::expect_between;
using tests::market_of;
using tests::priced;
using tests::product_of;
using tests::put;
using tests::put_on;
using tests::put_on_a_lattice;

constexpr const char* european = "[states, 'put_value(underlying, strike, last(dates))']";
constexpr const char* heston = "{heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}";

std::string with(std::string text, const std::string& features) {
    return text.insert(text.find("    script:"), "    features: " + features + "\n");
}

trade_plan explained(const std::string& text) {
    const book b = book::parse(text);
    trade_plan plan = engine().explain(b, *b.market(), tests::plain_paths()).at(0);
    EXPECT_EQ(plan.failure, "");
    return plan;
}

std::vector<std::string> known_to(const std::string& text) {
    const trade_plan plan = explained(text);
    return plan.decides_by ? plan.decides_by->knows : std::vector<std::string>{};
}

void expect_same_bits(const price_row& a, const price_row& b) {
    ASSERT_EQ(a.status, trade_status::priced) << a.message;
    ASSERT_EQ(b.status, trade_status::priced) << b.message;
    EXPECT_EQ(a.price, b.price);
    EXPECT_EQ(a.standard_error, b.standard_error);
    EXPECT_EQ(a.early->policy_value, b.early->policy_value);
    EXPECT_EQ(a.early->lower_bound, b.early->lower_bound);
    EXPECT_EQ(a.early->lower_error, b.early->lower_error);
    EXPECT_EQ(a.early->upper_bound, b.early->upper_bound);
    EXPECT_EQ(a.early->upper_error, b.early->upper_error);
}

price_row plainly_priced(const std::string& text, std::uint64_t paths) {
    return priced(text, paths, 42, tests::plain_paths()).rows[0];
}

price_row well_trained(const std::string& text) {
    run_options options;
    options.overrides.paths = 32768;
    options.overrides.training_paths = 65536;
    options.overrides.threads = 2;
    return engine().price(book::parse(text), options).rows[0];
}

// Expects bounds of `one` to be no wider than those of `other`, within errors of the difference that one seed
// in 30,000 exceeds: as if independent, though both use the same paths.
void expect_no_worse(const early_exercise& one, const early_exercise& other) {
    EXPECT_LT(one.upper_bound, other.upper_bound + 4 * std::hypot(one.upper_error, other.upper_error));
    EXPECT_GT(one.lower_bound, other.lower_bound - 4 * std::hypot(one.lower_error, other.lower_error));
}

const std::string dates_25 = "{start: 0, end: 1, count: 25}";

}  // namespace

// Puts of Longstaff and Schwartz (2001), table 1. The feature must more than halve what the upper bound
// exceeds the truth by; by chance one seed in 15,000 fails.
TEST(features_beside_states, the_european_narrows_the_bounds_of_puts) {
    std::vector<double> dates;
    for (int i = 1; i <= 25; ++i) dates.push_back(i / 25.0);
    for (const double spot : {36.0, 44.0}) {
        const double truth = put_on_a_lattice(spot, 40, 0.06, 0.2, dates);
        const std::string plain =
            put_on("spot: " + std::to_string(spot) + ", volatility: 0.2", 0.06, "40", dates_25);
        const price_row without = well_trained(plain), got = well_trained(with(plain, european));
        SCOPED_TRACE(std::to_string(spot) + ": " + std::to_string(truth));
        expect_between(got, truth, 0.985 * truth, truth + 0.0004 * 40);
        expect_between(without, truth);
        const early_exercise &a = *got.early, &b = *without.early;
        EXPECT_LT(a.upper_bound - truth,
                  (b.upper_bound - truth) / 2 + 4 * std::hypot(a.upper_error, b.upper_error / 2));
        expect_no_worse(a, b);
    }
}

TEST(features_beside_states, the_librarys_american_knows_its_european) {
    const std::string market = market_of("    A: {currency: USD, spot: 36, volatility: 0.2}\n", 0.06);
    const std::string trade =
        "trades:\n  - {id: t, product: american, underlying: A, strike: 40, maturity: 1}\n";
    const trade_plan plan = explained(market + trade);
    const std::vector<std::string> knows{"x0", "put_value(underlying, strike, maturity)"};
    EXPECT_EQ(plan.decides_by->knows, knows);
    EXPECT_LE(plan.decides_by->functions, 20u);
    EXPECT_EQ(plan.remarks, std::vector<std::string>{});
}

// A list of features that names the states alone gives the bits of a trade without a list.
TEST(features_beside_states, what_is_not_known_is_left_out) {
    const std::string terms = ", underlying: A, strike: 40, maturity: 1, exercise_step: 0.1}\n";
    const std::string plain =
        "products:\n  - product: plain\n    summary: A test.\n    parameters:\n"
        "      underlying: {type: asset, help: It.}\n      strike: {type: amount, help: It.}\n"
        "      maturity: {type: date, help: It.}\n      exercise_step: {type: number, help: It.}\n"
        "    example: {underlying: ACME, strike: 1, maturity: 1, exercise_step: 0.1}\n    script: |\n"
        "      exercise between start and maturity every exercise_step:\n"
        "          receive max(strike - spot(underlying), 0)\n";
    const std::string under_heston =
        market_of("    A: {currency: USD, spot: 40, model: " + std::string(heston) + "}\n", 0.06);
    const std::string american = under_heston + "trades:\n  - {id: t, product: american" + terms;
    const std::string without = under_heston + plain + "trades:\n  - {id: t, product: plain" + terms;
    expect_same_bits(plainly_priced(american, 8192), plainly_priced(without, 8192));
    const trade_plan plan = explained(american);
    EXPECT_EQ(plan.decides_by->knows, known_to(without));
    EXPECT_EQ(
        plan.remarks,
        std::vector<std::string>{
            "decided without 'put_value(underlying, strike, maturity)': the value of an option on 'A' in "
            "USD is not known ahead under stochastic variance; expected an asset with a volatility"});
    const auto left_out_in = [&](const std::string& market, const std::string& because) {
        const trade_plan told = explained(market + "trades:\n  - {id: t, product: american" + terms);
        ASSERT_EQ(told.remarks.size(), 1u);
        EXPECT_NE(told.remarks[0].find(because), std::string::npos) << told.remarks[0];
    };
    std::string moving = market_of("    A: {currency: USD, spot: 40, volatility: 0.2}\n", 0.06);
    const std::string still = "{rate: 0.060000}";
    moving.replace(moving.find(still), still.size(),
                   "{rate: 0.06, model: {hull_white: {mean_reversion: 0.1, volatility: 0.01}}}");
    left_out_in(moving, "while the rates of USD move by a model");
    left_out_in(
        market_of("    A: {currency: USD, spot: 40, volatility: 0.2, dividend_model: spot, dividends: "
                  "[{date: 0.45, amount: 1}]}\n",
                  0.06),
        "if a cash dividend falls");
    // In place of the states, a feature that the model does not know is still an error. A value asked for
    // after its day is one in any list.
    const std::string named = with(under_heston + plain, "['put_value(underlying, strike, maturity)']");
    const price_row refused = priced(named + "trades:\n  - {id: t, product: plain" + terms, 1024).rows[0];
    EXPECT_NE(refused.message.find("is not known ahead under stochastic variance"), std::string::npos);
    const std::string late = with(under_heston + plain, "[states, 'put_value(underlying, strike, start)']");
    const price_row past = priced(late + "trades:\n  - {id: t, product: plain" + terms, 1024).rows[0];
    EXPECT_NE(past.message.find("is asked for after that day"), std::string::npos) << past.message;
}

TEST(features_beside_states, are_known_to_every_right_or_to_none) {
    const std::string asset =
        "spot: 40, volatility: 0.2, dividend_model: spot, dividends: [{date: 0.6, amount: 1}]";
    const std::string script =
        "exercise on dates:\n    if time < 0.6:\n        receive max(strike - spot(underlying), 0)\n"
        "exercise on last(dates): receive max(strike - spot(underlying), 1)\n";
    const std::string text = put_on(asset, 0.06, "40", "[0.25, 1.0]", script);
    const trade_plan plan = explained(with(text, european));
    EXPECT_EQ(plan.decides_by->knows, known_to(text));
    EXPECT_EQ(plan.remarks.size(), 1u);
    expect_same_bits(plainly_priced(with(text, european), 4096), plainly_priced(text, 4096));
}

TEST(features_beside_states, stand_beside_ranks_and_reduced_states) {
    const std::string asset = "{currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.1}\n";
    const auto basket = [&](const std::string& last_asset, const std::string& features) {
        return with(market_of("    A: " + asset + "    B: " + last_asset, 0.05) + "products:\n" +
                        product_of(
                            "m", "basket strike dates",
                            "exercise on dates: receive max(best(spot(a) for a in basket) - strike, 0)\n"),
                    features) +
               "trades:\n  - {id: t, product: m, basket: [A, B], strike: 100, dates: {start: 0, end: 3, "
               "count: 9}}\n";
    };
    const std::string best = "'best(put_value(a, strike, last(dates)) for a in basket)'";
    const std::string mean = "average(spot(b) for b in basket)";
    const std::string both = basket(asset, "[" + best + ", states, " + mean + "]");
    const std::vector<std::string> knows = known_to(both);
    ASSERT_EQ(knows.size(), 4u);
    EXPECT_EQ(knows[0], "number 1 from the largest of 2 by spot(a)");
    EXPECT_EQ(knows[3], mean);
    expect_between(priced(both, 16384).rows[0], 13.902);
    const std::string mixed = basket("{currency: USD, spot: 100, model: " + std::string(heston) + "}\n",
                                     "[states, " + best + ", " + mean + "]");
    const std::vector<std::string> left = known_to(mixed);
    EXPECT_EQ(std::ranges::count(left, best.substr(1, best.size() - 2)), 0);
    EXPECT_EQ(left.back(), mean);
    EXPECT_EQ(priced(mixed, 2048).rows[0].status, trade_status::priced);

    std::string assets, names;
    for (int i = 0; i < 30; ++i) {
        assets += "    A" + std::to_string(i) + ": {currency: USD, spot: 100, volatility: 0.2}\n";
        names += (i > 0 ? ", A" : "A") + std::to_string(i);
    }
    const auto many = [&](const std::string& features) {
        return with(market_of(assets, 0.05) + "products:\n" +
                        product_of(
                            "m", "basket strike dates",
                            "exercise on dates: receive max(average(spot(a) for a in basket) - strike, 0)\n"),
                    features) +
               "trades:\n  - {id: t, product: m, basket: [" + names + "], strike: 100, dates: [0.5, 1.0]}\n";
    };
    const std::vector<std::string> of_many = known_to(many("[states, " + mean + "]"));
    ASSERT_EQ(of_many.size(), 7u) << "30 states leave no room for another number";
    EXPECT_EQ(of_many[0], "number 1 from the largest of 30 such as x0");
    EXPECT_EQ(of_many[6], mean);
    std::string lots = "[states";
    for (int i = 0; i < 25; ++i) lots += ", average(spot(a) for a in basket) + " + std::to_string(i);
    const price_row refused = priced(many(lots + "]"), 64).rows[0];
    EXPECT_NE(refused.message.find("expected at most 30; name fewer under features: beside the states"),
              std::string::npos)
        << refused.message;
}

TEST(features_beside_states, serve_every_right) {
    const std::string asset = "spot: 36, volatility: 0.2";
    const std::array<std::string, 2> scripts{
        "exercise on dates at most 2 times: receive max(strike - spot(underlying), 0)\n",
        "exercise on dates with notice 30 days: receive max(strike - spot(underlying), 0)\n"};
    for (const std::string& script : scripts) {
        SCOPED_TRACE(script);
        const std::string plain = put_on(asset, 0.06, "40", "[0.25, 0.5, 0.75, 1.0]", script);
        const std::string text = with(plain, european);
        EXPECT_EQ(known_to(text).size(), 2u);
        const price_row got = priced(text, 16384).rows[0], without = priced(plain, 16384).rows[0];
        ASSERT_TRUE(got.early) << got.message;
        const early_exercise& e = *got.early;
        EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
        expect_no_worse(e, *without.early);
    }
    run_options nested;
    nested.overrides.paths = 4096;
    nested.overrides.threads = 2;
    nested.overrides.upper = upper_bound::nested;
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, {0.5, 1.0});
    const book b = book::parse(with(put_on(asset, 0.06, "40", "[0.5, 1.0]"), european));
    const price_row got = engine().price(b, nested).rows[0];
    // Wider bounds are accepted here, since inner paths add noise to the nested bound.
    expect_between(got, truth, 0.98 * truth, 1.02 * truth);
}

TEST(features_beside_states, a_saved_policy_is_followed_to_the_same_bits) {
    const auto text = [](double spot, const std::string& model) {
        return market_of("    A: {currency: USD, spot: " + std::to_string(spot) + ", " + model + "}\n",
                         0.06) +
               "trades:\n  - {id: t, product: american, underlying: A, strike: 40, maturity: 1, "
               "exercise_step: "
               "0.1}\n";
    };
    run_options options;
    options.overrides.paths = 16384;
    options.overrides.threads = 2;
    options.keep_policies = true;
    const auto run = [&](const std::string& of) { return engine().price(book::parse(of), options); };
    const std::string here = text(36, "volatility: 0.2");
    const results found = run(here);
    const std::string file = testing::TempDir() + "tilewalk_policy_beside_states.json";
    std::ofstream(file) << found.policies;
    options.overrides.policy = file;
    expect_same_bits(run(here).rows[0], found.rows[0]);
    // In another market, the European feature stays the function of the spot that the policy was trained
    // with. So the policy is nearly as good as one trained in that market, on the same paths.
    for (const auto& [spot, model] :
         {std::pair{36.5, "volatility: 0.2"}, std::pair{36.0, "volatility: 0.22"}}) {
        const std::string there = text(spot, model);
        options.overrides.policy = file;
        const price_row moved = run(there).rows[0];
        options.overrides.policy.reset();
        const early_exercise b = *run(there).rows[0].early;
        ASSERT_TRUE(moved.early) << moved.message;
        EXPECT_NEAR(moved.early->policy_value, b.policy_value, 0.004 * b.policy_value) << model;
        EXPECT_LT(moved.early->upper_bound, 1.02 * b.upper_bound) << model;
    }
    options.overrides.policy = file;
    const price_row refused = run(text(36, "model: " + std::string(heston))).rows[0];
    EXPECT_NE(refused.message.find("its saved policy does not fit: it decides by"), std::string::npos)
        << refused.message;
    EXPECT_NE(refused.message.find("put_value(underlying, strike, maturity)"), std::string::npos)
        << refused.message;
}

TEST(features_beside_states, calls_are_bounded_as_well_as_without) {
    const auto call = [](const std::string& features) {
        const std::string plain = put_on("spot: 100, volatility: 0.2, dividend_yield: 0.08", 0.06, "100",
                                         "{start: 0, end: 1, count: 20}",
                                         "exercise on dates: receive max(spot(underlying) - strike, 0)\n");
        return *priced(features.empty() ? plain : with(plain, features), 32768).rows[0].early;
    };
    expect_no_worse(call(european), call(""));
}

TEST(features_beside_states, mistakes_are_told) {
    struct refused_features {
        std::string list, says;
        int column;
    };
    const std::string text = put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]");
    const std::vector<refused_features> all{
        {"[states]", "found only 'states', which is also the default; expected another", 16},
        {"[states, spot(underlying), states]", "found 'states' twice, expected it once", 42},
        {"[states, strike]", "alike on all paths", 24},
        {"[state, spot(underlying)]", "did you mean 'states'?", 16},
        {"['states + spot(underlying)']", "'states'", 17}};
    for (const refused_features& one : all) {
        const std::string told = tests::refusal([&] { book::parse(with(text, one.list)); });
        EXPECT_NE(told.find(one.says), std::string::npos) << one.list << told;
        EXPECT_NE(told.find(":15:" + std::to_string(one.column)), std::string::npos) << "its place: " << told;
    }
    const std::string taken = tests::refusal([&] {
        book::parse(with(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                                "states = 0\non dates:\n    states = states + 1\nexercise on dates:\n"
                                "    receive max(strike - spot(underlying), states - 1)\n"),
                         "[states, spot(underlying)]"));
    });
    EXPECT_NE(taken.find(":15:16"), std::string::npos) << taken;
    EXPECT_NE(taken.find("but the script has the same name"), std::string::npos) << taken;
}

}  // namespace tilewalk::features_beside_states_test
