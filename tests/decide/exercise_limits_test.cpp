// SPDX-License-Identifier: Apache-2.0
// Rights to end a trade early in extreme cases: nothing to decide by, no paths to learn from, very many dates
// and assets. The price is finite and honest, or the trade is refused with its reason.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "engine/decide/policy_file.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::exercise_limits_test {
namespace {

using tests::market_of;
using tests::priced;
using tests::product_of;
using tests::put;
using tests::put_on;
using tests::put_on_a_lattice;

struct asked_paths {
    std::uint64_t paths = 16384, training = 4096;
};

results priced_with(const std::string& text, const asked_paths& asked, const std::string& policy = "") {
    run_options options;
    options.overrides.paths = asked.paths;
    options.overrides.training_paths = asked.training;
    options.overrides.threads = 2;
    if (!policy.empty()) options.overrides.policy = policy;
    options.keep_policies = true;
    return engine().price(book::parse(text), options);
}

std::vector<exercise::saved_policy> policies_of(const results& r) {
    return report::read_policies(r.policies, "policies.json");
}

// Expects finite figures, and a lower bound below the upper one; by chance one seed in 30,000 fails.
void expect_honest(const price_row& row) {
    ASSERT_EQ(row.status, trade_status::priced) << row.message;
    ASSERT_TRUE(row.early);
    const early_exercise& e = *row.early;
    EXPECT_TRUE(std::isfinite(row.price));
    EXPECT_TRUE(std::isfinite(e.policy_value));
    EXPECT_TRUE(std::isfinite(e.lower_bound));
    EXPECT_TRUE(std::isfinite(e.upper_bound));
    if (row.paths > 1) {
        EXPECT_LE(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
        EXPECT_LE(row.low, row.price);
        EXPECT_GE(row.high, row.price);
    }
}

}  // namespace

TEST(exercise_limits, out_of_the_money_everywhere_is_worth_nothing) {
    const results got = priced(put_on("spot: 40, volatility: 0.2", 0.06, "1", "[0.5, 1.0]"), 16384);
    const price_row& row = got.rows.at(0);
    ASSERT_EQ(row.status, trade_status::priced) << row.message;
    EXPECT_EQ(row.early->policy_value, 0);
    EXPECT_NE(row.message.find("no path paid anything"), std::string::npos) << row.message;
    EXPECT_TRUE(std::isfinite(row.price));
    EXPECT_GE(row.early->upper_bound, 0);
}

// The strike rises until the right pays on a single training path, which gives the fit a single number.
TEST(exercise_limits, one_path_in_the_money_is_no_fit_of_nine_functions) {
    for (double strike = 24; strike < 34; strike += 0.05) {
        const results got =
            priced_with(put_on("spot: 40, volatility: 0.2", 0.06, std::to_string(strike), "[0.5, 1.0]"), {});
        const auto first = policies_of(got).at(0).dates.at(0).found.paid;
        if (first.rank == 0) continue;
        EXPECT_EQ(first.rank, 1u);
        EXPECT_EQ(first.low, first.high) << "what the one path will pay";
        expect_honest(got.rows.at(0));
        const double truth = put_on_a_lattice(40, strike, 0.06, 0.2, {0.5, 1});
        const early_exercise& e = *got.rows[0].early;
        EXPECT_LT(e.lower_bound - 4 * e.lower_error, truth);
        EXPECT_GT(e.upper_bound + 4 * e.upper_error, truth);
        return;
    }
    FAIL() << "the right pays on no path, or on many at once";
}

TEST(exercise_limits, features_that_are_constant_leave_a_constant) {
    const results got =
        priced_with(put_on("spot: 40, volatility: 0.2", 0.06, "3", "[0.5, 1.0]",
                           "same = 7\non dates:\n    same = same * 2\n"
                           "exercise on dates: receive strike + 0 * same\n"
                           "on last(dates):\n    pay max(spot(underlying) - 40, 0) + 0 * same\n"),
                    {});
    expect_honest(got.rows.at(0));
    const exercise::saved_policy policy = policies_of(got).at(0);
    for (const auto& d : policy.dates) {
        for (std::size_t f = 0; f < policy.features.size(); ++f) {
            if (policy.features[f].find("same") != std::string::npos) {
                EXPECT_EQ(d.found.scales[f], 0) << policy.features[f];
            }
        }
        EXPECT_EQ(d.found.scales.back(), 0) << "what the right pays";
        EXPECT_TRUE(
            std::ranges::all_of(d.found.paid.coefficients, [](double x) { return std::isfinite(x); }));
    }
    const results sure = priced_with(
        put_on("spot: 40, volatility: 0.2", 0.06, "3", "[0.5, 1.0]",
               "exercise on dates: receive strike\non last(dates):\n    pay 2 + 0 * spot(underlying)\n"),
        {});
    ASSERT_EQ(sure.rows.at(0).status, trade_status::priced) << sure.rows[0].message;
    EXPECT_NEAR(sure.rows[0].price, 3 * std::exp(-0.06 * 0.5), 1e-9);
}

TEST(exercise_limits, collinear_features_are_left_out) {
    const std::string dates = "{start: 0, end: 1, count: 4}";
    const std::string script =
        "seen = 0\ntwice = 0\non dates:\n    seen = spot(underlying)\n    twice = 2 * spot(underlying) + 1\n"
        "exercise on dates: receive max(strike - seen, 0) + max(twice - 2 * seen - 1, 0)\n";
    const results got = priced_with(put_on("spot: 40, volatility: 0.2", 0.06, "40", dates, script), {});
    const results plain = priced_with(put_on("spot: 40, volatility: 0.2", 0.06, "40", dates), {});
    expect_honest(got.rows.at(0));
    const exercise::saved_policy policy = policies_of(got).at(0);
    ASSERT_GE(policy.features.size(), 2u);
    for (const auto& d : policy.dates) EXPECT_LT(d.found.unpaid.rank, policy.functions);
    const early_exercise &a = *got.rows[0].early, &b = *plain.rows.at(0).early;
    // Both are values on the same paths, by policies that differ little: by far less than one error.
    EXPECT_NEAR(a.policy_value, b.policy_value, b.policy_error);
}

TEST(exercise_limits, one_and_three_training_paths_make_a_policy) {
    const double truth = put_on_a_lattice(40, 40, 0.06, 0.2, {0.25, 0.5, 0.75, 1});
    for (const std::uint64_t training : {1u, 3u}) {
        for (const std::uint64_t paths : {1u, 3u, 16384u}) {
            SCOPED_TRACE(std::to_string(training) + " training paths, " + std::to_string(paths));
            const results got =
                priced_with(put_on("spot: 40, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 4}"),
                            {paths, training});
            const price_row& row = got.rows.at(0);
            expect_honest(row);
            EXPECT_EQ(row.early->training_paths, training);
            if (paths < 16384) continue;
            EXPECT_LT(row.early->lower_bound - 4 * row.early->lower_error, truth);
            EXPECT_GT(row.early->upper_bound + 4 * row.early->upper_error, truth);
            EXPECT_GT(row.early->upper_bound - row.early->lower_bound, 0.02 * truth);
            EXPECT_NE(row.message.find("more paths train a better policy"), std::string::npos) << row.message;
        }
    }
}

TEST(exercise_limits, bounds_that_are_far_apart_are_told_in_plain_figures) {
    const results got = priced_with(
        put_on("spot: 400000, volatility: 0.2", 0.06, "400000", "{start: 0, end: 1, count: 4}"), {16384, 1});
    const std::string& said = got.rows.at(0).message;
    const auto apart = said.find("its bounds are ");
    ASSERT_NE(apart, std::string::npos) << said;
    const double gap = got.rows.at(0).early->upper_bound - got.rows.at(0).early->lower_bound;
    EXPECT_GT(gap, 1000);
    EXPECT_EQ(said.substr(apart, said.find(" apart") - apart), fmt::format("its bounds are {:.0f}", gap));
}

TEST(exercise_limits, training_paths_are_a_setting) {
    const std::string text = put_on("spot: 40, volatility: 0.2", 0.06, "40", "[0.5, 1.0]");
    EXPECT_EQ(priced(text, 4096).rows.at(0).early->training_paths, 4096u) << "not fewer";
    EXPECT_EQ(priced(text, 40000).rows.at(0).early->training_paths, 10000u) << "a quarter";
    EXPECT_EQ(priced(text, 400000).rows.at(0).early->training_paths, 65536u) << "not more";
    const results set = priced_with(text, {4096, 700});
    EXPECT_EQ(set.rows.at(0).early->training_paths, 700u);
    EXPECT_EQ(set.manifest.settings.training_paths, 700u);
    const results of_book = priced("settings: {training_paths: 2k}\n" + text, 4096);
    EXPECT_EQ(of_book.rows.at(0).early->training_paths, 2000u);
    run_options options;
    options.overrides.training_paths = 0;
    EXPECT_THROW(engine().price(book::parse(text), options), error);
}

TEST(exercise_limits, five_hundred_dates_are_walked) {
    const results got = priced_with(
        put_on("spot: 40, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 500}"), {4096, 2048});
    expect_honest(got.rows.at(0));
    EXPECT_EQ(got.rows[0].early->training_paths, 2048u);
    EXPECT_EQ(policies_of(got).at(0).dates.size(), 500u);
    const double few = put_on_a_lattice(40, 40, 0.06, 0.2, {0.25, 0.5, 0.75, 1});
    EXPECT_GT(got.rows[0].early->upper_bound + 4 * got.rows[0].early->upper_error, few);
}

TEST(exercise_limits, a_hundred_assets_are_refused_by_name_or_bounded) {
    std::string assets, names;
    for (int i = 0; i < 100; ++i) {
        const std::string name = "X" + std::to_string(i);
        assets += "    " + name + ": {currency: USD, spot: 100, volatility: 0.2}\n";
        names += (i == 0 ? "" : ", ") + name;
    }
    const results got = priced_with(
        market_of(assets, 0.05) + "products:\n" +
            product_of("most", "basket strike dates",
                       "exercise on dates: receive max(best(spot(a) for a in basket) - strike, 0)\n") +
            "trades:\n  - {id: many, product: most, basket: [" + names + "], strike: 100, dates: [0.5, 1]}\n",
        {4096, 4096});
    const price_row& row = got.rows.at(0);
    if (row.status == trade_status::failed) {
        EXPECT_EQ(row.kind, error_kind::input);
        EXPECT_NE(row.message.find("depends on 100 numbers of the path"), std::string::npos) << row.message;
        return;
    }
    expect_honest(row);
}

TEST(exercise_limits, a_call_without_dividends_is_the_european) {
    const std::string dates = "{start: 0, end: 1, count: 6}";
    const std::string right = "exercise on dates: receive max(spot(underlying) - strike, 0)\n";
    const std::string plain =
        "seen = 0\non dates:\n    seen = spot(underlying)\non last(dates):\n    pay max(seen - strike, 0)\n";
    const std::string asset = "spot: 36, volatility: 0.2";
    const results call = priced_with(put_on(asset, 0.06, "40", dates, right), {65536, 16384});
    const results european = priced_with(put_on(asset, 0.06, "40", dates, plain), {65536, 16384});
    const early_exercise& e = *call.rows.at(0).early;
    const price_row& other = european.rows.at(0);
    EXPECT_NEAR(e.policy_value, other.price, 4 * std::hypot(e.policy_error, other.standard_error));
    EXPECT_LT(e.lower_bound - 4 * e.lower_error, 2.17372);
    EXPECT_GT(e.upper_bound + 4 * e.upper_error, 2.17372);
    // Spoils a policy: it overvalues waiting on all dates but the last.
    std::vector<exercise::saved_policy> off = policies_of(call);
    std::vector<exercise::saved_policy::date>& all = off.at(0).dates;
    for (std::size_t k = 0; k + 1 < all.size(); ++k) {
        exercise::fitted_side& paid = all[k].found.paid;
        std::ranges::fill(paid.coefficients, 0);
        paid.coefficients[0] = paid.high = 1e30;
    }
    const std::string file = testing::TempDir() + "tilewalk_never.json";
    std::ofstream(file) << report::policies_json(off);
    const results forced = priced_with(put_on(asset, 0.06, "40", dates, right), {65536, 16384}, file);
    ASSERT_EQ(forced.rows.at(0).status, trade_status::priced) << forced.rows[0].message;
    EXPECT_EQ(forced.rows[0].early->policy_value, other.price);
    EXPECT_EQ(forced.rows[0].early->policy_error, other.standard_error);
    EXPECT_EQ(forced.rows[0].early->part_means, other.part_means);
}

TEST(exercise_limits, more_dates_are_worth_no_less) {
    double before = 0, error_before = 0;
    for (const int count : {1, 2, 4, 8, 16}) {
        const results got = priced(put_on("spot: 36, volatility: 0.2", 0.06, "40",
                                          "{start: 0, end: 1, count: " + std::to_string(count) + "}"),
                                   65536);
        const early_exercise& e = *got.rows.at(0).early;
        // A right on twice as many dates is worth no less; by chance one seed in 30,000 fails.
        EXPECT_GT(e.lower_bound, before - 4 * std::hypot(e.lower_error, error_before)) << count;
        before = e.lower_bound;
        error_before = e.lower_error;
    }
    EXPECT_GT(before, 4.2) << "sixteen dates are worth far more than the one, at 3.84";
}

TEST(exercise_limits, a_right_of_one_trade_changes_no_bit_of_another) {
    const std::string head = market_of("    A: {currency: USD, spot: 40, volatility: 0.3}\n", 0.06) +
                             "products:\n" + product_of("p", "underlying strike dates", put) + "trades:\n";
    const std::string first =
        "  - {id: e, product: european, underlying: A, option: put, strike: 40, maturity: 1}\n";
    const std::string last =
        "  - {id: d, product: barrier, underlying: A, option: call, strike: 40, maturity: 1, direction: up, "
        "barrier: 60}\n"
        "  - {id: q, product: p, underlying: A, strike: 42, dates: [0.4, 0.8]}\n";
    const std::string right =
        "  - {id: r, product: p, underlying: A, strike: 40, dates: {start: 0, end: 1, count: 10}}\n";
    const results without = priced_with(head + first + last, {});
    const results with = priced_with(head + first + right + last, {});
    ASSERT_EQ(with.rows.at(1).trade, "r");
    for (const price_row& row : without.rows) {
        const auto same = std::ranges::find(with.rows, row.trade, &price_row::trade);
        EXPECT_EQ(row.price, same->price) << row.trade;
        EXPECT_EQ(row.standard_error, same->standard_error) << row.trade;
        EXPECT_EQ(row.part_means, same->part_means) << row.trade;
    }
    EXPECT_EQ(policies_of(without).at(0).dates.at(0).found.paid.coefficients,
              policies_of(with).at(1).dates.at(0).found.paid.coefficients);
}

}  // namespace tilewalk::exercise_limits_test
