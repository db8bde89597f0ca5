// SPDX-License-Identifier: Apache-2.0
// Saved exercise policies, used again: the same bits if nothing has changed, valid bounds in other markets
// and on later days, and a refusal that says why if they don't fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/digest.h"
#include "engine/decide/policy_file.h"
#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::policy_file_test {
namespace {

using tests::market_of;
using tests::product_of;
using tests::put;
using tests::put_on_a_lattice;

std::string kept_in(const std::string& name, const std::string& text) {
    const std::string file = testing::TempDir() + "tilewalk_policy_" + name + ".json";
    std::ofstream(file) << text;
    return file;
}

run_options with_policy(const std::string& file = "") {
    run_options options;
    options.overrides.paths = 32768;
    options.overrides.threads = 2;
    options.keep_policies = true;
    if (!file.empty()) options.overrides.policy = file;
    return options;
}

results priced(const std::string& text, const std::string& file = "") {
    return engine().price(book::parse(text), with_policy(file));
}

const std::string trades =
    "products:\n" + product_of("p", "underlying strike dates", put) +
    product_of("most", "basket strike dates",
               "exercise on dates: receive max(best(spot(a) for a in basket) - strike, 0)\n") +
    "trades:\n"
    "  - {id: put, product: p, underlying: A, strike: 40, dates: [2026-04-15, 2026-07-15, 2026-10-15, "
    "2027-01-15]}\n"
    "  - {id: most, product: most, basket: [A, B], strike: 44, dates: [0.5, 1]}\n";

std::string market_with(const std::string& as_of, double spot, const std::string& model) {
    return "market:\n  as_of: " + as_of +
           "\n  currencies: {USD: {rate: 0.06}}\n  assets:\n    A: {currency: USD, spot: " +
           std::to_string(spot) + ", " + model +
           "}\n    B: {currency: USD, spot: 40, volatility: 0.3, dividend_yield: 0.05}\n"
           "  correlations: [[A, B, 0.5]]\n";
}

const std::string today = market_with("2026-01-15", 40, "volatility: 0.2") + trades;

std::string several_on(const std::string& as_of, double spot, int rights) {
    return market_with(as_of, spot, "volatility: 0.2") + "products:\n" +
           product_of("late", "underlying strike dates",
                      "exercise on dates with notice 30 days: receive max(strike - spot(underlying), 0)\n") +
           "trades:\n"
           "  - {id: swing, product: swing, underlying: A, strike: 40, exercise_dates: [2026-04-15, "
           "2026-07-15, "
           "2026-10-15, 2027-01-15], rights: " +
           std::to_string(rights) +
           ", minimum_rights: 1}\n"
           "  - {id: late, product: late, underlying: A, strike: 40, dates: [2026-04-15, 2026-07-15, "
           "2026-10-15, 2027-01-15]}\n";
}

std::string failure_of(const std::string& text, const std::string& file) {
    const price_row row = priced(text, file).rows.at(0);
    return row.status == trade_status::failed ? row.message : "it was priced: " + row.message;
}

}  // namespace

TEST(policy_file, gives_the_bits_of_the_run_that_trained) {
    const results trained = priced(today);
    const std::string file = kept_in("same", trained.policies);
    const results followed = priced(today, file);
    for (std::size_t i = 0; i < 2; ++i) {
        const price_row &a = trained.rows.at(i), &b = followed.rows.at(i);
        ASSERT_EQ(b.status, trade_status::priced) << b.message;
        EXPECT_EQ(a.price, b.price) << a.trade;
        EXPECT_EQ(a.standard_error, b.standard_error) << a.trade;
        EXPECT_EQ(a.early->policy_value, b.early->policy_value) << a.trade;
        EXPECT_EQ(a.early->lower_bound, b.early->lower_bound) << a.trade;
        EXPECT_EQ(a.early->upper_bound, b.early->upper_bound) << a.trade;
        EXPECT_EQ(a.early->upper_error, b.early->upper_error) << a.trade;
        EXPECT_EQ(a.early->training_paths, b.early->training_paths) << a.trade;
        EXPECT_EQ(a.message, b.message) << a.trade;
    }
    EXPECT_EQ(followed.policies, trained.policies) << "numbers read back to the same bits";
    EXPECT_EQ(followed.manifest.settings.policy, file);
    EXPECT_EQ(followed.manifest.inputs.back().file, file);
    EXPECT_EQ(followed.manifest.inputs.back().hash, config::sha256(trained.policies));
    EXPECT_TRUE(priced("settings: {policy: " + file + "}\n" + today).policies == trained.policies);
    run_options untold = with_policy();
    untold.keep_policies = false;
    EXPECT_TRUE(engine().price(book::parse(today), untold).policies.empty());
}

TEST(policy_file, is_followed_with_other_numbers_of_the_market) {
    const std::string file = kept_in("moved", priced(today).policies);
    const std::string moved = market_with("2026-01-15", 37, "volatility: 0.25") + trades;
    const results followed = priced(moved, file), anew = priced(moved);
    const double truth = put_on_a_lattice(37, 40, 0.06, 0.25, {90 / 365.0, 181 / 365.0, 273 / 365.0, 1});
    const early_exercise& e = *followed.rows.at(0).early;
    // By chance one seed in 15,000 fails at either end.
    EXPECT_LT(e.lower_bound - 4 * e.lower_error, truth);
    EXPECT_GT(e.upper_bound + 4 * e.upper_error, truth);
    EXPECT_GT(e.lower_bound, 0.98 * truth) << "a policy for a market near by";
    EXPECT_NE(e.policy_value, anew.rows.at(0).early->policy_value) << "it is not found anew";
    EXPECT_EQ(followed.rows[0].message.find("found anew"), std::string::npos);
}

// Paths carry the short rate relative to the curve, but a policy decides by the rate itself.
TEST(policy_file, is_followed_where_a_curve_has_moved) {
    const auto swaption = [](double rate) {
        return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: " + std::to_string(rate) +
               ", model: {hull_white: {mean_reversion: 0.03, volatility: 0.009}}}}\ntrades:\n"
               "  - {id: s, product: bermudan_swaption, currency: USD, option: payer, strike: 0.035, "
               "exercise_dates: [1, 2, 3], payments: [2, 3, 4], notional: 1000}\n";
    };
    const std::string file = kept_in("curve", priced(swaption(0.035)).policies);
    const results followed = priced(swaption(0.04), file), anew = priced(swaption(0.04));
    ASSERT_EQ(followed.rows.at(0).status, trade_status::priced) << followed.rows[0].message;
    const early_exercise &held = *followed.rows[0].early, &found = *anew.rows.at(0).early;
    // Rates half a point apart give policies whose values differ by far less than one error.
    EXPECT_NEAR(held.lower_bound, found.lower_bound, 1.5 * found.lower_error + 0.01 * found.lower_bound);
    EXPECT_NEAR(held.upper_bound, found.upper_bound, 0.03 * found.upper_bound);
}

// One date of the right has passed, and the others are nearer than when the policy was trained.
TEST(policy_file, is_followed_on_later_days) {
    const std::string file = kept_in("later", priced(today).policies);
    for (const std::string as_of : {"2026-01-16", "2026-03-02", "2026-05-04"}) {
        SCOPED_TRACE(as_of);
        const int passed = as_of == "2026-01-16" ? 1 : as_of == "2026-03-02" ? 46 : 109;
        const results followed = priced(market_with(as_of, 38, "volatility: 0.2") + trades, file);
        std::vector<double> dates;
        for (const int day : {90, 181, 273, 365})
            if (day > passed) dates.push_back((day - passed) / 365.0);
        const double truth = put_on_a_lattice(38, 40, 0.06, 0.2, dates);
        ASSERT_EQ(followed.rows.at(0).status, trade_status::priced) << followed.rows[0].message;
        const early_exercise& e = *followed.rows[0].early;
        EXPECT_LT(e.lower_bound - 4 * e.lower_error, truth);
        EXPECT_GT(e.upper_bound + 4 * e.upper_error, truth);
        EXPECT_GT(e.lower_bound, 0.98 * truth - 4 * e.lower_error);
        EXPECT_LT(e.upper_bound, 1.05 * truth + 4 * e.upper_error);
    }
    EXPECT_NE(failure_of(market_with("2026-04-15", 38, "volatility: 0.2") + trades, file)
                  .find("it has no decision for 2026-04-15"),
              std::string::npos);
}

TEST(policy_file, holds_still_under_greeks) {
    const std::string file = kept_in("greeks", priced(today).policies);
    const book b = book::parse(today);
    run_options options = with_policy(file);
    options.keep_policies = false;
    const results got = engine().greeks(b.only({"put"}), *b.market(), {{"delta", "theta"}}, options);
    const std::vector<double> dates{90 / 365.0, 181 / 365.0, 273 / 365.0, 1};
    const double truth =
        (put_on_a_lattice(40.4, 40, 0.06, 0.2, dates) - put_on_a_lattice(39.6, 40, 0.06, 0.2, dates)) / 0.8;
    const auto delta = std::ranges::find(got.greeks, "delta", &greek_row::measure);
    const auto theta = std::ranges::find(got.greeks, "theta", &greek_row::measure);
    ASSERT_NE(delta, got.greeks.end());
    ASSERT_FALSE(delta->has_failed()) << delta->message;
    EXPECT_NEAR(delta->value, truth, 4.5 * delta->standard_error + 0.01 * std::abs(truth));
    ASSERT_NE(theta, got.greeks.end());
    EXPECT_FALSE(theta->has_failed()) << theta->message;
}

// A file used again gives the bits of its training run, then valid bounds in a moved market, on a later day,
// and with fewer uses; it is refused for more uses.
TEST(policy_file, several_uses_and_notice_are_kept) {
    const results found = priced(several_on("2026-01-15", 40, 2));
    const std::string file = kept_in("several", found.policies);
    const results again = priced(several_on("2026-01-15", 40, 2), file);
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_EQ(again.rows[i].status, trade_status::priced) << again.rows[i].message;
        EXPECT_EQ(again.rows[i].price, found.rows[i].price) << i;
        EXPECT_EQ(again.rows[i].early->upper_bound, found.rows[i].early->upper_bound) << i;
        EXPECT_EQ(again.rows[i].message, found.rows[i].message);
    }
    EXPECT_TRUE(again.policies == found.policies);
    for (const auto& [day, spot, rights] :
         {std::tuple("2026-01-15", 42.0, 2), std::tuple("2026-05-15", 41.0, 2),
          std::tuple("2026-01-15", 40.0, 1)}) {
        SCOPED_TRACE(std::string(day) + ", " + std::to_string(spot) + ", " + std::to_string(rights));
        const results held = priced(several_on(day, spot, rights), file),
                      anew = priced(several_on(day, spot, rights));
        for (std::size_t i = 0; i < 2; ++i) {
            ASSERT_EQ(held.rows[i].status, trade_status::priced) << held.rows[i].message;
            const early_exercise &a = *held.rows[i].early, &b = *anew.rows[i].early;
            // A policy trained in this market is slightly better on the same paths. One seed in 15,000 fails.
            EXPECT_NEAR(a.policy_value, b.policy_value, 0.03 * b.policy_value) << i;
            EXPECT_GT(a.upper_bound + 4 * a.upper_error, b.lower_bound - 4 * b.lower_error) << i;
            EXPECT_LT(a.upper_bound, 1.15 * b.upper_bound) << "a martingale that still says something " << i;
        }
    }
    EXPECT_NE(failure_of(several_on("2026-01-15", 40, 3), file)
                  .find("a right with up to 2 uses, expected the 3 of the trade"),
              std::string::npos);
}

// Mandatory uses that all cost are made on the same dates as in the training run.
TEST(policy_file, uses_that_must_be_made_are_kept) {
    const auto swing = [](int rights, int least) {
        return market_with("2026-01-15", 40, "volatility: 0.2") +
               "trades:\n  - {id: swing, product: swing, underlying: A, strike: 46, exercise_dates: [0.25, "
               "0.5, "
               "0.75, 1], rights: " +
               std::to_string(rights) + ", minimum_rights: " + std::to_string(least) +
               ", minimum_amount: 1}\n";
    };
    for (const int least : {3, 4}) {
        const results found = priced(swing(4, least));
        const std::string file = kept_in("forced", found.policies);
        const price_row again = priced(swing(4, least), file).rows.at(0);
        ASSERT_EQ(again.status, trade_status::priced) << again.message;
        EXPECT_EQ(again.price, found.rows.at(0).price) << least;
        EXPECT_EQ(again.early->upper_bound, found.rows[0].early->upper_bound) << least;
        if (least < 4) continue;
        double forwards = 0;
        for (const double t : {0.25, 0.5, 0.75, 1.0}) forwards += 40 - 46 * std::exp(-0.06 * t);
        EXPECT_NEAR(again.early->policy_value, forwards, 4.5 * again.early->policy_error + 1e-9);
    }
}

// Under SABR a path carries the price itself, so the policy must scale with the spot.
TEST(policy_file, is_followed_where_a_price_has_moved_by_a_factor) {
    const auto american = [](double spot) {
        return tests::put_on(
            "spot: " + std::to_string(spot) + ", model: {sabr: {alpha: 2, beta: 0.5, rho: -0.4, nu: 0.4}}",
            0.05, "90", "{start: 0, end: 1, count: 4}");
    };
    const std::string file = kept_in("sabr", priced(american(100)).policies);
    const price_row followed = priced(american(85), file).rows.at(0), anew = priced(american(85)).rows.at(0);
    ASSERT_EQ(followed.status, trade_status::priced) << followed.message;
    const early_exercise &held = *followed.early, &found = *anew.early;
    EXPECT_NEAR(held.policy_value, found.policy_value, 0.03 * found.policy_value);
    EXPECT_GT(held.upper_bound + 4 * held.upper_error, found.lower_bound - 4 * found.lower_error);
    EXPECT_LT(held.upper_bound, 1.05 * found.upper_bound);
}

TEST(policy_file, a_trade_that_is_not_in_it_is_told) {
    const results trained = priced(today);
    std::vector<exercise::saved_policy> kept = report::read_policies(trained.policies, "p");
    kept.erase(kept.begin());
    const std::string file = kept_in("other", report::policies_json(kept));
    const results got = priced(today, file);
    EXPECT_EQ(got.rows.at(0).price, trained.rows.at(0).price);
    EXPECT_NE(got.rows[0].message.find("its policy is not in " + file + " and was found anew"),
              std::string::npos)
        << got.rows[0].message;
    EXPECT_EQ(got.rows.at(1).message, trained.rows.at(1).message);
}

TEST(policy_file, what_does_not_fit_is_refused_by_name) {
    const results trained = priced(today);
    const std::string file = kept_in("fit", trained.policies);
    std::string other = today;
    other.replace(other.find("max(strike - spot"), 17, "max(strike-  spot");
    EXPECT_NE(failure_of(other, file).find("another script of the product 'p'"), std::string::npos)
        << failure_of(other, file);
    const std::string heston =
        market_with("2026-01-15", 40,
                    "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}") +
        trades;
    EXPECT_NE(failure_of(heston, file).find("its saved policy does not fit: it decides by"),
              std::string::npos)
        << failure_of(heston, file);
    std::string longer = today;
    longer.replace(longer.find("2027-01-15]"), 11, "2027-01-15, 2028-01-15]");
    EXPECT_NE(failure_of(longer, file).find("it has no decision near 2028-01-15"), std::string::npos)
        << failure_of(longer, file);
    const auto changed = [&](const auto& change) {
        std::vector<exercise::saved_policy> all = report::read_policies(trained.policies, "p");
        change(all.at(0));
        return failure_of(today, kept_in("changed", report::policies_json(all)));
    };
    EXPECT_NE(changed([](auto& p) { p.dates[1].found.paid.coefficients.pop_back(); }).find("numbers"),
              std::string::npos);
    EXPECT_NE(changed([](auto& p) { p.functions += 1; }).find("functions, expected"), std::string::npos);
    EXPECT_NE(changed([](auto& p) { p.normals = 2; }).find("normal random numbers a step, expected"),
              std::string::npos);
    EXPECT_NE(changed([](auto& p) { p.product = "q"; }).find("for the product 'q'"), std::string::npos);
    EXPECT_NE(changed([](auto& p) { p.as_of = "soon"; }).find("its as_of is 'soon'"), std::string::npos);
    EXPECT_EQ(priced(other, file).rows.at(1).price, trained.rows.at(1).price);
}

TEST(policy_file, what_is_no_file_of_policies_is_refused) {
    const std::string good = priced(today).policies;
    const auto said = [](const std::string& text) {
        return tests::refusal([&] { report::read_policies(text, "p.json"); });
    };
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string out = good;
        EXPECT_NE(out.find(from), std::string::npos) << from;
        return out.replace(out.find(from), from.size(), to);
    };
    EXPECT_NE(said("trades: []").find("this is not JSON as `tilewalk price --save-policy` writes it"),
              std::string::npos);
    EXPECT_NE(said(with("policies-1", "policies-9")).find("expected 'tilewalk-policies-1'"),
              std::string::npos);
    EXPECT_NE(said(with("\"trade\": \"most\"", "\"trade\": \"put\"")).find("the trade 'put' a second time"),
              std::string::npos);
    EXPECT_NE(said(with("\"rank\"", "\"rang\"")).find("'rank' is missing"), std::string::npos);
    EXPECT_NE(said(with("\"of\": \"holder\"", "\"of\": \"nobody\"")).find("'holder', 'issuer'"),
              std::string::npos);
    EXPECT_NE(said(with("\"low\": ", "\"low\": null, \"more\": ")).find("expected a number"),
              std::string::npos);
    EXPECT_NE(tests::refusal([] { priced(today, "no/such/policies.json"); }).find("no/such/policies.json"),
              std::string::npos);
}

}  // namespace tilewalk::policy_file_test
