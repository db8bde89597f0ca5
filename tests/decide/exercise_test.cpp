// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early: bounds enclose the true value, known from our own lattices and from
// publications; impossible cases are refused or priced honestly.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "engine/decide/exercise/basis.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/regression.h"
#include "products/language/product.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::exercise_test {
namespace {

using tests::expect_between;
using tests::market_of;
using tests::priced;
using tests::product_of;
using tests::put;
using tests::put_on;
using tests::put_on_a_lattice;

}  // namespace

// Puts of Longstaff and Schwartz (2001), table 1, with fifty dates a year, against a lattice.
TEST(exercise, bounds_hold_puts_known_from_a_lattice) {
    for (const double spot : {36.0, 40.0, 44.0}) {
        for (const double volatility : {0.2, 0.4}) {
            std::vector<double> dates;
            for (int i = 1; i <= 25; ++i) dates.push_back(i / 25.0);
            const double truth = put_on_a_lattice(spot, 40, 0.06, volatility, dates);
            const results got =
                priced(put_on("spot: " + std::to_string(spot) + ", volatility: " + std::to_string(volatility),
                              0.06, "40", "{start: 0, end: 1, count: 25}"),
                       65536);
            SCOPED_TRACE(std::to_string(spot) + " " + std::to_string(volatility) + ": " +
                         std::to_string(truth));
            expect_between(got.rows[0], truth);
            const early_exercise& e = *got.rows[0].early;
            EXPECT_GT(e.lower_bound, 0.985 * truth - 4 * e.lower_error) << "a policy that is near the best";
            EXPECT_LT(e.upper_bound, truth + 0.0025 * 40) << "a martingale that is near the best";
            EXPECT_EQ(e.training_paths, 16384u);
        }
    }
}

// Published by Andersen and Broadie (2004): 13.902 at spot 100, for nine dates in three years.
TEST(exercise, bounds_hold_the_call_on_the_larger_of_two) {
    const std::string asset = "{currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.1}\n";
    const results got =
        priced("market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n    A: " + asset +
                   "    B: " + asset + "  correlations: [[A, B, 0]]\nproducts:\n" +
                   product_of("m", "basket strike dates",
                              "exercise on dates: receive max(best(spot(a) for a in basket) - strike, 0)\n") +
                   "trades:\n  - {id: t, product: m, basket: [A, B], strike: 100, dates: {start: 0, end: 3, "
                   "count: 9}}\n",
               65536);
    expect_between(got.rows[0], 13.902);
    EXPECT_GT(got.rows[0].early->lower_bound, 13.75);
    EXPECT_LT(got.rows[0].early->upper_bound, 14.7);
}

// One date leaves no decision: the price has the bits of the European on the same paths. A call without
// dividends is never exercised early, so it has the European's price, too.
TEST(exercise, without_a_decision_it_is_the_european) {
    const results one = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]"), 16384);
    const results european = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                                           "on dates:\n    pay max(strike - spot(underlying), 0)\n"),
                                    16384);
    EXPECT_EQ(one.rows[0].early->policy_value, european.rows[0].price);
    EXPECT_EQ(one.rows[0].early->policy_error, european.rows[0].standard_error);
    EXPECT_FALSE(european.rows[0].early);
    const results call =
        priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 12}",
                      "exercise on dates: receive max(spot(underlying) - strike, 0)\n"),
               65536);
    expect_between(call.rows[0], 2.17372);
}

TEST(exercise, the_issuers_right_bounds_from_the_other_side) {
    const std::string note =
        "on dates:\n    pay 12 + 0 * spot(underlying)\ncall on dates: pay strike\non last(dates):\n    pay "
        "strike\n";
    const results got =
        priced(put_on("spot: 100, volatility: 0.2", 0.03, "100", "[1.0, 2.0, 3.0]", note), 16384);
    // The note is called on the first date: its coupon is 12 % and rates are 3 %.
    EXPECT_NEAR(got.rows[0].early->upper_bound, 112 * std::exp(-0.03), 1e-9);
    EXPECT_NEAR(got.rows[0].early->lower_bound, 112 * std::exp(-0.03), 1e-9);
    const std::string on_spot =
        "call on dates: pay max(spot(underlying) - strike, 5)\n"
        "on last(dates):\n    pay max(spot(underlying), strike)\n";
    const results random =
        priced(put_on("spot: 100, volatility: 0.2", 0.03, "90", "[1.0, 2.0, 3.0]", on_spot), 16384);
    const early_exercise& e = *random.rows[0].early;
    EXPECT_EQ(e.policy_value, e.upper_bound);
    EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.upper_error, e.lower_error));
    const std::string both = on_spot + "exercise on dates: receive 20\n";
    const results game =
        priced(put_on("spot: 100, volatility: 0.2", 0.03, "90", "[1.0, 2.0, 3.0]", both), 16384);
    EXPECT_TRUE(is_figure(game.rows[0].early->policy_value));
    EXPECT_FALSE(is_figure(game.rows[0].early->lower_bound));
    EXPECT_NE(game.rows[0].message.find("without a bound: both sides have rights"), std::string::npos);
}

TEST(exercise, a_right_of_today_is_used_where_it_pays_more) {
    const std::string dates = "{start: 0, end: 1, count: 12, include_start: true}";
    const results deep = priced(put_on("spot: 30, volatility: 0.2", 0.06, "40", dates), 16384);
    EXPECT_EQ(deep.rows[0].early->policy_value, 10);
    EXPECT_EQ(deep.rows[0].early->policy_error, 0);
    EXPECT_GE(deep.rows[0].early->upper_bound, 10);
    const results near = priced(put_on("spot: 40, volatility: 0.2", 0.06, "40", dates), 16384);
    EXPECT_GT(near.rows[0].early->policy_value, 2);
    const results today = priced(put_on("spot: 30, volatility: 0.2", 0.06, "40", "[0]"), 16384);
    EXPECT_EQ(today.rows[0].price, 10);
    const results past = priced(put_on("spot: 30, volatility: 0.2", 0.06, "40", "[2025-06-01]"), 16384);
    EXPECT_EQ(past.rows[0].price, 0);
}

TEST(exercise, rights_may_depend_on_the_path) {
    const auto policy_of = [](const std::string& script) {
        const results got = priced(
            put_on("spot: 40, volatility: 0.3", 0.06, "40", "{start: 0, end: 1, count: 10}", script), 16384);
        EXPECT_EQ(got.rows[0].status, trade_status::priced) << got.rows[0].message;
        return got.rows[0].early ? got.rows[0].early->policy_value : no_figure;
    };
    const double always = policy_of(put);
    const double knocked = policy_of(
        "low = 1000\non dates:\n    low = min(low, spot(underlying))\nexercise on dates:\n"
        "    if low < 35:\n        receive max(strike - spot(underlying), 0)\n");
    EXPECT_LT(knocked, always);
    EXPECT_GT(knocked, 0.3 * always);
    EXPECT_NEAR(policy_of("exercise between start and last(dates) every 0.1:\n"
                          "    receive max(strike - spot(underlying), 0)\n"),
                always, 0.1);
    EXPECT_LT(policy_of("exercise on dates: receive max(strike - spot(underlying), 0) on last(dates)\n"),
              always);
}

TEST(exercise, trades_do_not_change_each_others_bits) {
    const std::string alone = put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 5}");
    const std::string beside =
        alone + "  - {id: u, product: european, underlying: A, option: put, strike: 40, maturity: 1}\n" +
        "  - {id: v, product: p, underlying: A, strike: 41, dates: [0.5, 1.0]}\n";
    const results a = priced(alone, 16384), b = priced(beside, 16384);
    EXPECT_EQ(a.rows[0].price, b.rows[0].price);
    EXPECT_EQ(a.rows[0].standard_error, b.rows[0].standard_error);
    const results european = priced(
        market_of("    A: {currency: USD, spot: 36, volatility: 0.2}\n", 0.06) +
            "trades:\n  - {id: u, product: european, underlying: A, option: put, strike: 40, maturity: 1}\n",
        16384);
    EXPECT_EQ(b.rows[1].price, european.rows[0].price);
}

TEST(exercise, few_paths_and_few_in_the_money_are_honest) {
    for (const std::uint64_t paths : {1u, 3u, 100u, 16384u}) {
        for (const char* strike : {"1", "1e-3", "40", "4000"}) {
            const results got = priced(
                put_on("spot: 40, volatility: 0.2", 0.06, strike, "{start: 0, end: 1, count: 4}"), paths);
            ASSERT_EQ(got.rows[0].status, trade_status::priced) << strike << " " << got.rows[0].message;
            EXPECT_TRUE(std::isfinite(got.rows[0].price));
        }
    }
}

TEST(exercise, many_dates_are_walked_or_refused_by_name) {
    const auto on = [](int dates) {
        return priced(put_on("spot: 40, volatility: 0.2", 0.06, "40",
                             "{start: 0, end: 1, count: " + std::to_string(dates) + "}"),
                      4096);
    };
    const results some = on(500);
    EXPECT_EQ(some.rows[0].status, trade_status::priced) << some.rows[0].message;
    EXPECT_EQ(some.rows[0].early->training_paths, 4096u);
    const results too_many = on(10000);
    EXPECT_EQ(too_many.rows[0].status, trade_status::failed);
    EXPECT_NE(too_many.rows[0].message.find("take fewer dates"), std::string::npos)
        << too_many.rows[0].message;
}

using exercise_on_a_gpu = tests::on_a_gpu;

TEST_F(exercise_on_a_gpu, has_the_bits_of_the_cpu) {
    const book all = book::parse(
        market_of("    A: {currency: USD, spot: 95, volatility: 0.25}\n"
                  "    B: {currency: USD, spot: 105, volatility: 0.3, dividend_yield: 0.02}\n"
                  "    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, "
                  "sigma: 0.6, rho: -0.7}}}\n",
                  0.04) +
        "products:\n" + product_of("p", "underlying strike dates", put) +
        product_of("most", "basket strike dates",
                   "exercise on dates: receive max(best(spot(a) for a in basket) - strike, 0)\n") +
        "trades:\n"
        "  - {id: a, product: p, underlying: A, strike: 100, dates: [0.25, 0.5, 1]}\n"
        "  - {id: h, product: p, underlying: H, strike: 100, dates: [0.5, 1]}\n"
        "  - {id: m, product: most, basket: [A, B], strike: 100, dates: [0.5, 1, 2]}\n");
    for (const std::string precision : {"double", "single", "mixed"}) {
        run_options options;
        options.overrides.paths = 40000;
        options.overrides.threads = 4;
        options.overrides.precision = tests::named{precision};
        options.overrides.device = "cuda";
        const results got = engine().price(all, options);
        ASSERT_FALSE(got.manifest.devices.empty());
        options.overrides.device = "cpu";
        const results expected = engine().price(all, options);
        for (std::size_t i = 0; i < got.rows.size(); ++i) {
            ASSERT_EQ(expected.rows[i].status, trade_status::priced) << expected.rows[i].message;
            EXPECT_EQ(got.rows[i].price, expected.rows[i].price) << got.rows[i].trade << ", " << precision;
            ASSERT_TRUE(got.rows[i].early && expected.rows[i].early);
            EXPECT_EQ(got.rows[i].early->lower_bound, expected.rows[i].early->lower_bound);
            EXPECT_EQ(got.rows[i].early->upper_bound, expected.rows[i].early->upper_bound);
        }
    }
}

TEST(exercise, results_read_back_what_they_wrote) {
    const results got = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[0.5, 1.0]"), 4096);
    std::ostringstream json;
    write(json, got, output_format::json);
    const results back = read_results(json.str(), "results.json");
    const early_exercise &a = *got.rows[0].early, &b = back.rows[0].early.value();
    EXPECT_EQ(a.policy_value, b.policy_value);
    EXPECT_EQ(a.lower_bound, b.lower_bound);
    EXPECT_EQ(a.upper_bound, b.upper_bound);
    EXPECT_EQ(a.upper_error, b.upper_error);
    EXPECT_EQ(a.training_paths, b.training_paths);
    EXPECT_FALSE(is_figure(b.extrapolated));
    const results steps = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                                        "exercise between start and last(dates) every 0.1: receive "
                                        "max(strike - spot(underlying), 0)\n"),
                                 4096);
    std::ostringstream again;
    write(again, steps, output_format::json);
    const results read = read_results(again.str(), "results.json");
    EXPECT_EQ(read.rows[0].early->extrapolated, steps.rows[0].early->extrapolated);
    EXPECT_EQ(read.rows[0].early->step_error, steps.rows[0].early->step_error);
}

// Extrapolation from ten dates to continuous exercise: the lattice knows what ten dates gain over five, and
// nearly what continuous exercise gains over ten.
TEST(exercise, steps_are_extrapolated) {
    const auto every = [](const std::string& step) {
        return priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                             "exercise between start and last(dates) every " + step +
                                 ": receive max(strike - spot(underlying), 0)\n"),
                      65536)
            .rows[0];
    };
    const auto of_dates = [](int count) {
        std::vector<double> dates;
        for (int i = 1; i <= count; ++i) dates.push_back(static_cast<double>(i) / count);
        return put_on_a_lattice(36, 40, 0.06, 0.2, dates);
    };
    const price_row got = every("0.1");
    ASSERT_TRUE(got.early) << got.message;
    const early_exercise& e = *got.early;
    const double gain = e.extrapolated - got.price;
    const double error_of_gain = std::sqrt(e.step_error * e.step_error - gain * gain);
    EXPECT_GT(error_of_gain, 0);
    EXPECT_LT(error_of_gain, 0.02);
    // One seed in 15,000 fails, beyond what imperfect policies with ten and with five dates lose.
    EXPECT_NEAR(gain, of_dates(10) - of_dates(5), 4 * error_of_gain + 0.002);
    EXPECT_NEAR(e.extrapolated, of_dates(100),
                e.step_error + 4 * got.standard_error + (e.upper_bound - e.lower_bound) / 2);
    EXPECT_LT(every("0.02").early->step_error, e.step_error);
    // No extrapolation for stated dates, for too few dates, or if the right is used today.
    const price_row stated =
        priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[0.5, 1.0]"), 4096).rows[0];
    EXPECT_FALSE(is_figure(stated.early->extrapolated));
    EXPECT_FALSE(is_figure(stated.early->step_error));
    EXPECT_FALSE(is_figure(every("0.5").early->extrapolated));
}

// A call without dividends is exercised on the last date: all dates gain nothing over every second one.
TEST(exercise, steps_gain_nothing_where_the_last_date_is_the_best) {
    const price_row got = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                                        "exercise between start and last(dates) every 0.1: receive "
                                        "max(spot(underlying) - strike, 0)\n"),
                                 32768)
                              .rows[0];
    ASSERT_TRUE(got.early) << got.message;
    const double gain = got.early->extrapolated - got.price;
    const double error_of_gain = std::sqrt(got.early->step_error * got.early->step_error - gain * gain);
    // One seed in 15,000 fails, beyond what both policies lose. If every second date left out the last, its
    // value would be 0.2 less.
    EXPECT_NEAR(gain, 0, 4 * error_of_gain + 0.01);
    EXPECT_LT(error_of_gain, 0.02);
}

TEST(exercise, a_product_names_features) {
    const std::string text = put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 10}");
    const auto with = [&](const std::string& features) {
        std::string out = text;
        return out.insert(out.find("    script:"), "    features: " + features + "\n");
    };
    std::vector<double> dates;
    for (int i = 1; i <= 10; ++i) dates.push_back(i / 10.0);
    const double truth = put_on_a_lattice(36, 40, 0.06, 0.2, dates);
    expect_between(priced(with("[spot(underlying)]"), 32768).rows[0], truth);
    const book b = book::parse(with("[spot(underlying), 'log(max(spot(underlying), 1))']"));
    const auto plan = engine().explain(b, *b.market())[0];
    const std::vector<std::string> named{"spot(underlying)", "log(max(spot(underlying), 1))"};
    EXPECT_EQ(plan.decides_by->knows, named);
    // A feature that tells nothing makes a worse policy and a wider interval, which still holds the truth.
    const price_row blind = priced(with("[floor(spot(underlying) / 1000)]"), 32768).rows[0];
    const early_exercise& e = *blind.early;
    EXPECT_LT(e.lower_bound - 4 * e.lower_error, truth);
    EXPECT_GT(e.upper_bound + 4 * e.upper_error, truth);
    struct refused_features {
        std::string list, says;
    };
    const std::vector<refused_features> all{
        {"spot(underlying)", "expected a list of expressions"},
        {"[]", "found an empty list, expected at least one"},
        {"[spott(underlying)]", "did you mean 'spot'?"},
        {"[strike]", "alike on all paths"},
        {"[time]", "alike on all paths"},
        {"[underlying]", "expected a number"},
        {"[spot(underlying) > 1]", "expected a number"},
        {"[highest(underlying)]", "what happens between two dates"},
        {"['spot(underlying) spot(underlying)']", "expected the end of the expression"},
        {"[max(spot(underlying), 1)]", "put one with a comma in quotes"}};
    for (const refused_features& one : all) {
        const std::string told = tests::refusal([&] { book::parse(with(one.list)); });
        EXPECT_NE(told.find(one.says), std::string::npos) << one.list << told;
        EXPECT_NE(told.find(":15:"), std::string::npos) << "its place: " << told;
    }
    const std::string without = tests::refusal([&] {
        std::string european = put_on("spot: 36, volatility: 0.2", 0.06, "40", "[1.0]",
                                      "on dates:\n    pay spot(underlying) - strike\n");
        book::parse(european.insert(european.find("    script:"), "    features: [spot(underlying)]\n"));
    });
    EXPECT_NE(without.find("without a right to decide on"), std::string::npos) << without;
}

TEST(exercise, many_states_are_ranked) {
    std::string assets, names;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "A" + std::to_string(i);
        assets += "    " + name + ": {currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.1}\n";
        names += (i > 0 ? ", " : "") + name;
    }
    const std::string text = market_of(assets, 0.05) +
                             "trades:\n  - {id: t, product: bermudan_basket, basket: [" + names +
                             "], strike: 100, exercise_dates: {start: 0, end: 3, count: 4}}\n";
    const book b = book::parse(text);
    const auto plan = engine().explain(b, *b.market())[0];
    ASSERT_TRUE(plan.decides_by);
    ASSERT_EQ(plan.decides_by->knows.size(), 6u);
    EXPECT_EQ(plan.decides_by->knows[1], "number 2 from the largest of 40 by spot(a)");
    EXPECT_EQ(plan.decides_by->knows[5], "the mean of 40 by spot(a)");
    EXPECT_LE(plan.decides_by->functions, 64u);
    // A payoff on the mean compares no assets, so features are the states in their own order.
    std::string mean_of_all = text;
    mean_of_all.insert(mean_of_all.find("strike: 100"), "price: mean, ");
    const book means = book::parse(mean_of_all);
    const auto averaged = engine().explain(means, *means.market())[0];
    ASSERT_EQ(averaged.decides_by->knows.size(), 6u);
    EXPECT_EQ(averaged.decides_by->knows[1], "number 2 from the largest of 40 such as x0");
    EXPECT_EQ(averaged.decides_by->knows[5], "the mean of 40 such as x0");
    const price_row ranked = priced(text, 16384).rows[0];
    ASSERT_TRUE(ranked.early) << ranked.message;
    const early_exercise& e = *ranked.early;
    EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
    std::string last = text;
    last.replace(last.find("{start: 0, end: 3, count: 4}"), 28, "[3.0]");
    EXPECT_GT(e.lower_bound, priced(last, 16384).rows[0].early->policy_value + 4 * e.lower_error);
}

TEST(exercise, states_of_a_small_kind_keep_their_names) {
    std::string assets, names;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "A" + std::to_string(i);
        assets += "    " + name + ": {currency: USD, spot: 100, " +
                  (i < 2 ? "model: {heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.4, rho: -0.5, "
                           "steps_per_year: 4}}"
                         : "volatility: 0.2") +
                  "}\n";
        names += (i > 0 ? ", " : "") + name;
    }
    const book b =
        book::parse(market_of(assets, 0.05) + "trades:\n  - {id: t, product: bermudan_basket, basket: [" +
                    names + "], strike: 100, price: mean, exercise_dates: [1.0, 2.0]}\n");
    const auto plan = engine().explain(b, *b.market())[0];
    ASSERT_TRUE(plan.decides_by) << plan.failure;
    const std::vector<std::string>& knows = plan.decides_by->knows;
    const auto is_made = [](const std::string& name) {
        return name.starts_with("number ") || name.starts_with("the mean of ");
    };
    EXPECT_EQ(std::ranges::count_if(knows, is_made), 6) << testing::PrintToString(knows);
    EXPECT_GE(knows.size(), 8u) << testing::PrintToString(knows);
    EXPECT_EQ(std::set<std::string>(knows.begin(), knows.end()).size(), knows.size())
        << testing::PrintToString(knows);
}

TEST(exercise, scripts_that_make_no_sense_are_refused) {
    struct refused_script {
        std::string script, says;
    };
    const std::string local = "    local = strike - spot(underlying)\n";
    const std::vector<refused_script> all{
        {"exercise on dates:\n    pay strike - spot(underlying)\n", "expected 'receive'"},
        {"exercise on dates:\n" + local + "    if local > 0:\n        stop\n", "ends the trade"},
        {"seen = 0\nexercise on dates:\n    seen = 1\n    receive strike + seen - spot(underlying)\n",
         "'seen' keeps its value from block to block"},
        {"exercise between start and last(dates):\n    receive strike - spot(underlying)\n",
         "expected 'every' and the step"},
        {"call on dates:\n" + local + "    if local > 5:\n        local = 1\n",
         "expected 'pay AMOUNT' in it"},
        {"on dates:\n    receive strike - spot(underlying)\n", "'receive'"},
        {"exercise on dates: recieve strike - spot(underlying)\n", "did you mean 'receive'?"},
        {"exercice on dates: receive strike - spot(underlying)\n", "did you mean 'exercise'?"}};
    for (const refused_script& one : all) {
        const std::string told = tests::refusal(
            [&] { book::parse(put_on("spot: 40, volatility: 0.2", 0.06, "40", "[1.0]", one.script)); });
        EXPECT_NE(told.find(one.says), std::string::npos) << one.script << told;
    }
}

TEST(exercise_parts, a_basis_has_all_monomials_as_far_as_there_is_room) {
    EXPECT_EQ(exercise::basis(1).functions(), 1u + 5 + 2 + 1);
    EXPECT_EQ(exercise::basis(2).functions(), 15u + 2 + 2);
    EXPECT_EQ(exercise::basis(5).functions(), 21u + 2 + 5);
    EXPECT_EQ(exercise::basis(1, 1).functions(), 6u + 1 + 2);
    EXPECT_EQ(exercise::basis(2, 1).functions(), 10u + 2);
    EXPECT_EQ(exercise::basis(8, 4).functions(), 13u + 12 + 2);
    for (std::size_t states = 0; states <= language::most_features; ++states) {
        const exercise::basis b(states);
        EXPECT_LE(b.functions(), exercise::most_functions) << states;
        const std::vector<double> at(b.features(), 2.0);
        for (const double f : b.values(at, 1.0)) EXPECT_EQ(f, std::exp2(std::round(std::log2(f))));
    }
    const std::vector<double> of = exercise::basis(2).values(std::vector<double>{2, 3, 5}, 1.0);
    EXPECT_EQ(of, (std::vector<double>{1, 2, 3, 4, 6, 9, 8, 12, 18, 27, 16, 24, 36, 54, 81, 5, 25, 10, 15}));
}

TEST(exercise_parts, moves_have_mean_0_and_variance_1) {
    for (const std::size_t normals : {1u, 2u}) {
        const exercise::interval_moves moves(normals);
        std::vector<double> mean(moves.size()), square(moves.size() * moves.size());
        const int n = normals == 1 ? 2001 : 301;
        const double h = 20.0 / (n - 1);
        std::vector<double> u(normals);
        const std::function<void(std::size_t, double)> over = [&](std::size_t k, double weight) {
            if (k < normals) {
                for (int i = 0; i < n; ++i) {
                    u[k] = -10 + i * h;
                    over(k + 1, weight * std::exp(-u[k] * u[k] / 2) / std::sqrt(2 * M_PI) * h);
                }
                return;
            }
            const std::vector<double> of = moves.values(u, 1.0);
            for (std::size_t a = 0; a < of.size(); ++a) {
                mean[a] += weight * of[a];
                for (std::size_t b = 0; b < of.size(); ++b)
                    square[a * of.size() + b] += weight * of[a] * of[b];
            }
        };
        over(0, 1);
        for (std::size_t a = 0; a < moves.size(); ++a) {
            EXPECT_NEAR(mean[a], 0, 1e-9);
            for (std::size_t b = 0; b < moves.size(); ++b)
                EXPECT_NEAR(square[a * moves.size() + b], a == b ? 1 : 0, 1e-9) << a << " " << b;
        }
    }
}

TEST(exercise_parts, least_squares_find_what_made_the_numbers) {
    constexpr std::size_t functions = 5;
    std::vector<exercise::block_column> of(functions);
    exercise::block_column right{};
    // Paths after these stay 0: a run may end within a block.
    for (std::size_t p = 0; p + 20 < exercise::paths_of_block; ++p) {
        const double x = std::sin(static_cast<double>(p) * 0.7), y = std::cos(static_cast<double>(p) * 1.3);
        of[0][p] = 1;
        of[1][p] = x;
        of[2][p] = y;
        of[3][p] = x + y;  // linearly dependent on two others
        of[4][p] = 0;
        right[p] = 3 - 2 * x + 0.5 * y;
    }
    std::vector<double> matrix, sums;
    for (std::size_t i = 0; i < functions; ++i) {
        for (std::size_t j = 0; j < functions; ++j) matrix.push_back(exercise::sum_of_products(of[i], of[j]));
        sums.push_back(exercise::sum_of_products(of[i], right));
    }
    const exercise::pivoted_factor factor(matrix, functions, functions);
    EXPECT_EQ(factor.rank(), 3u);
    const std::vector<double> found = factor.solve(sums);
    for (std::size_t p = 0; p < exercise::paths_of_block; p += 7) {
        double sum = 0;
        for (std::size_t f = 0; f < functions; ++f) sum += found[f] * of[f][p];
        EXPECT_NEAR(sum, right[p], 1e-12);
    }
    EXPECT_EQ(exercise::pivoted_factor(matrix, functions, 1).rank(), 1u);
    EXPECT_EQ(exercise::pivoted_factor(std::vector<double>(9), 3, 3).rank(), 0u);
}

TEST(exercise_parts, least_squares_are_those_of_eigen) {
    constexpr std::size_t functions = 12;
    std::vector<double> matrix(functions * functions), right(functions);
    Eigen::MatrixXd same(functions, functions);
    Eigen::VectorXd sums(functions);
    std::uint64_t state = 7;
    const auto number = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
    };
    Eigen::MatrixXd columns(40, functions);
    for (Eigen::Index i = 0; i < columns.size(); ++i) columns.data()[i] = number();
    same = columns.transpose() * columns;
    for (std::size_t i = 0; i < functions; ++i) {
        right[i] = sums(static_cast<Eigen::Index>(i)) = number();
        for (std::size_t j = 0; j < functions; ++j)
            matrix[i * functions + j] = same(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    const std::vector<double> found = exercise::pivoted_factor(matrix, functions, functions).solve(right);
    const Eigen::VectorXd expected = same.ldlt().solve(sums);
    for (std::size_t i = 0; i < functions; ++i)
        EXPECT_NEAR(found[i], expected(static_cast<Eigen::Index>(i)), 1e-10);
}

}  // namespace tilewalk::exercise_test
