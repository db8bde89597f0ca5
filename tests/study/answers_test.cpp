// SPDX-License-Identifier: Apache-2.0
// Figures that trades report beside their prices: implied volatilities against those that made the prices,
// fair parameters against closed forms and repricing, and invalid requests.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tilewalk/engine.h"

namespace tilewalk::answers_test {
namespace {

const std::string market_text = R"(
as_of: 2026-01-15
currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.22}
  LATE: {currency: USD, spot: 100, volatility: 0.3, dividends: [{date: 0.5, amount: 2}]}
  STILL: {currency: USD, spot: 100, volatility: 0}
fx: {EURUSD: {rate: 1.10, volatility: 0.1}}
correlations: [[ACME, EURUSD, 0]]
)";
constexpr double limit = 4.5;

price_row price_one(const std::string& trade, std::uint64_t paths, std::uint64_t seed = 7) {
    run_options o;
    o.overrides = {paths, seed, 1};
    o.overrides.device = "cpu";
    return engine()
        .price(book::parse("trades:\n  - {id: t, " + trade + "}\n"), market::parse(market_text), o)
        .rows.at(0);
}

reported_figure answer_to(const std::string& trade, std::uint64_t paths = 20000) {
    const price_row row = price_one(trade, paths);
    EXPECT_TRUE(row.reported.has_value()) << trade << ": " << row.message;
    return row.reported.value_or(reported_figure{});
}

TEST(answers, implied_volatilities_are_those_of_the_market) {
    for (const std::string& terms :
         {std::string("underlying: ACME, option: call, strike: 100, maturity: 1.0"),
          std::string("underlying: ACME, option: put, strike: 80, maturity: 2.0"),
          std::string("underlying: ACME, option: call, strike: 130, maturity: 0.25")}) {
        const reported_figure r = answer_to("product: european, report: implied_volatility, " + terms);
        EXPECT_EQ(r.what, "implied_volatility");
        EXPECT_NEAR(r.value, 0.22, limit * r.standard_error) << terms << " +- " << r.standard_error;
        EXPECT_GT(r.standard_error, 0) << terms;
        EXPECT_LT(r.standard_error, 0.02) << terms;
    }
    // The volatility's standard error is the price's over the vega, and matches the spread over seeds.
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const price_row row = price_one(
            "product: european, report: implied_volatility, underlying: ACME, strike: 100, maturity: 1.0",
            2000, seed);
        const double z = (row.reported->value - 0.22) / row.reported->standard_error;
        squares += z * z;
    }
    // Chi-squared with 40 degrees of freedom is outside of these bounds once in 10,000 times.
    EXPECT_GT(squares, 14.0);
    EXPECT_LT(squares, 84.0);
    // LATE pays a cash dividend: the reported volatility is Black's on the forward, near the model's 0.3.
    EXPECT_NEAR(answer_to("product: european, report: implied_volatility, underlying: LATE, strike: 100, "
                          "maturity: 1.0")
                    .value,
                0.3, 0.01);
}

TEST(answers, a_volatility_that_no_price_implies_is_none) {
    const auto none = [](const std::string& trade, const std::string& why) {
        const reported_figure r = answer_to("product: european, report: implied_volatility, " + trade, 2000);
        EXPECT_FALSE(is_figure(r.value) || is_figure(r.standard_error)) << trade << ": " << r.value;
        EXPECT_NE(r.message.find(why), std::string::npos) << trade << ": " << r.message;
    };
    none("underlying: ACME, strike: 100, maturity: 2026-01-15", "ends on as_of or before");
    none("underlying: ACME, strike: 100, maturity: 1.0, currency: EUR", "not in the USD of its asset");
    const price_row failed = price_one(
        "product: european, report: implied_volatility, underlying: ACNE, strike: 1, maturity: 1.0", 64);
    EXPECT_EQ(failed.status, trade_status::failed);
}

TEST(answers, fair_parameters_are_those_of_closed_forms) {
    // The coupon of a par bond follows from discount factors alone, without a random error.
    double annuity = 0;
    for (int year = 1; year <= 5; ++year) annuity += std::exp(-0.03 * year);
    const reported_figure par = answer_to(
        "product: coupon_bond, currency: USD, coupon: 0.01, coupon_dates: {start: 0, end: 5, count: 5}, "
        "report: "
        "{fair: coupon, price: 100}",
        64);
    EXPECT_EQ(par.what, "fair_coupon");
    EXPECT_NEAR(par.value, (1 - std::exp(-0.15)) / annuity, 1e-12);
    EXPECT_EQ(par.standard_error, 0);

    const reported_figure rate = answer_to(
        "product: swap, currency: USD, fixed_rate: 0.2, fixed_payments: {start: 0, end: 5, count: 5}, "
        "floating_payments: {start: 0, end: 5, count: 5}, report: fair_fixed_rate",
        64);
    EXPECT_NEAR(rate.value, (1 - std::exp(-0.15)) / annuity, 1e-12);

    const std::string variance =
        "product: variance_swap, underlying: ACME, fixings: {start: 0, end: 1, count: 52, include_start: "
        "true}, "
        "annualisation: 52, notional: 100, ";
    const reported_figure strike = answer_to(variance + "strike: 0.5, report: fair_strike");
    const double drift = 0.03 - 0.01 - 0.22 * 0.22 / 2;
    EXPECT_NEAR(strike.value, std::sqrt(0.22 * 0.22 + drift * drift / 52), limit * strike.standard_error);
    EXPECT_GT(strike.standard_error, 0);
    EXPECT_LT(strike.standard_error, 1e-3);
    // At the fair strike the price is 0, and the strike's error is the price's over its slope in the strike.
    const price_row again = price_one(variance + "strike: " + std::to_string(strike.value), 20000);
    EXPECT_NEAR(again.price, 0, 1e-4 * 100 * 2 * strike.value);
    EXPECT_NEAR(strike.standard_error, again.standard_error / (100 * 2 * strike.value * std::exp(-0.03)),
                0.01 * strike.standard_error);
    EXPECT_NEAR(answer_to(variance + "strike: 0.01, report: fair_strike").value, strike.value, 1e-9);
    EXPECT_NEAR(answer_to(variance + "strike: 0, report: fair_strike").value, strike.value, 1e-9);
}

TEST(answers, a_barrier_is_found_for_a_wanted_price) {
    const std::string out =
        "product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: ";
    const price_row at_90 = price_one(out + "90", 20000);
    const reported_figure r =
        answer_to(out + "50, report: {fair: barrier, price: " + std::to_string(at_90.price) + "}");
    EXPECT_NEAR(r.value, 90, 1e-4) << r.message;
    EXPECT_GT(r.standard_error, 0);
}

TEST(answers, what_has_no_answer_says_why) {
    const auto none = [](const std::string& trade, const std::string& why) {
        const reported_figure r = answer_to(trade, 2000);
        EXPECT_FALSE(is_figure(r.value) || is_figure(r.standard_error)) << trade << ": " << r.value;
        EXPECT_NE(r.message.find(why), std::string::npos) << trade << ": " << r.message;
    };
    const std::string call = "product: european, underlying: ACME, maturity: 1.0, strike: 100, ";
    none(call + "report: {fair: strike, price: -1}", "was found at which the price is -1");
    none(
        "product: digital, underlying: ACME, maturity: 1.0, strike: 100, payout: 3, report: {fair: payout, "
        "price: -2}",
        "was found at which the price is -2");
    const auto refused = [](const std::string& trade, const std::string& why) {
        const price_row row = price_one(trade, 64);
        EXPECT_EQ(row.status, trade_status::failed) << trade;
        EXPECT_NE(row.message.find(why), std::string::npos) << trade << ": " << row.message;
    };
    refused(call + "report: fair_srike", "did you mean 'fair_strike'?");
    refused(call + "report: implied_volatilty", "did you mean 'implied_volatility'?");
    refused(call + "report: fair_underlying", "expected one of fair_strike, implied_volatility");
    refused(call + "report: {fair: strike, prize: 1}", "did you mean 'price'?");
    refused("product: digital, underlying: ACME, maturity: 1.0, strike: 100, report: implied_volatility",
            "only for the product 'european'");
    refused(
        "product: autocallable, basket: [ACME, STILL], initial_level: [100, 90], observations: [1.0], "
        "coupon: "
        "0.05, report: fair_initial_level",
        "expected one number 'initial_level'");
}

TEST(answers, the_price_is_none_the_wiser) {
    const std::string call = "product: european, underlying: ACME, maturity: 1.0, strike: 100";
    const price_row plain = price_one(call, 2000), asked = price_one(call + ", report: fair_strike", 2000),
                    implied = price_one(call + ", report: implied_volatility", 2000);
    EXPECT_EQ(plain.price, asked.price);
    EXPECT_EQ(plain.price, implied.price);
    EXPECT_FALSE(plain.reported);
}

}  // namespace
}  // namespace tilewalk::answers_test
