// SPDX-License-Identifier: Apache-2.0
// Interest rates in scripts and the models that move them: on a curve that does not move to the last digits
// by hand, on random ones against martingales and closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/model_market.h"

namespace tilewalk {
namespace {

// Each pays one number of its language function, so that prices can be taken apart.
const std::string own_products = R"(products:
  - product: a_bond
    summary: What a bond is worth on a day, paid then.
    parameters:
      looked: {type: date, help: The day.}
      maturity: {type: date, help: Of the bond.}
    example: {looked: 1.0, maturity: 2.0}
    script: |
      on looked:
          pay bond(currency, maturity)
  - product: a_payment
    summary: One unit, decided on one day and paid on another.
    parameters:
      looked: {type: date, help: The day of decision.}
      maturity: {type: date, help: The day of payment.}
    example: {looked: 1.0, maturity: 2.0}
    script: |
      on looked:
          pay 1 on maturity
  - product: a_forward_rate
    summary: A rate fixed on one day for a period, paid at its end.
    parameters:
      looked: {type: date, help: The day of fixing.}
      from: {type: date, help: The period begins.}
      to: {type: date, help: The period ends.}
    example: {looked: 1.0, from: 1.0, to: 1.25}
    script: |
      on looked:
          pay forward_rate(currency, from, to, "act_360") on to
  - product: an_annuity
    summary: An annuity.
    parameters:
      looked: {type: date, help: The day.}
      begin: {type: date, help: The first period begins.}
      payments: {type: schedule, help: The periods end.}
    example: {looked: 1.0, begin: 1.0, payments: [2.0, 3.0]}
    script: |
      on looked:
          pay annuity(currency, begin, payments)
  - product: a_swap_rate
    summary: A swap rate of a currency.
    parameters:
      looked: {type: date, help: The day.}
      begin: {type: date, help: The first period begins.}
      payments: {type: schedule, help: The periods end.}
      of: {type: currency, help: Whose rate it is.}
    example: {looked: 1.0, begin: 1.0, payments: [2.0, 3.0], of: USD}
    script: |
      on looked:
          pay swap_rate(of, begin, payments)
  - product: a_cms
    summary: A swap rate of constant maturity.
    parameters:
      days: {type: schedule, help: The days of fixing.}
      years: {type: number, help: The swap lasts.}
      of: {type: currency, help: Whose rate it is.}
    example: {days: [1.0], years: 10, of: USD}
    script: |
      on days:
          pay constant_maturity_rate(of, years, 2)
)";

const std::string curves =
    "as_of: 2026-01-15\ncurrencies: {USD: {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}}, EUR: {rate: 0.01}}\n";

double usd(double years) {
    const double at1 = -0.02, at5 = -0.15, at10 = -0.35;
    const double log_factor = years <= 1   ? at1 * years
                              : years <= 5 ? at1 + (at5 - at1) * (years - 1) / 4
                                           : at5 + (at10 - at5) * (years - 5) / 5;
    return std::exp(log_factor);
}

TEST(rates, of_a_curve_that_does_not_move_are_met_to_rounding) {
    const double annuity = 1.5 * usd(3.5) + usd(4.5), coupons = [] {
        double sum = 0;
        for (int k = 1; k <= 20; ++k) sum += 0.5 * usd(1.5 + 0.5 * k);
        return sum;
    }();
    const struct {
        const char* trade;
        double price;
    } all[] = {
        {"product: a_bond, looked: 1.5, maturity: 4", usd(4)},
        {"product: a_bond, looked: 2026-01-15, maturity: 4", usd(4)},
        {"product: a_payment, looked: 1.5, maturity: 4", usd(4)},
        {"product: a_forward_rate, looked: 1, from: 2, to: 2.25",
         (usd(2) / usd(2.25) - 1) / 0.25 * usd(2.25)},
        {"product: a_forward_rate, looked: 1, from: 2027-01-15, to: 2027-04-15",
         (usd(1) / usd(1 + 90 / 365.0) - 1) / (90 / 360.0) * usd(1 + 90 / 365.0)},
        {"product: an_annuity, looked: 1.5, begin: 2, payments: [3.5, 4.5]", annuity},
        {"product: a_swap_rate, looked: 1.5, begin: 2, payments: [3.5, 4.5], of: USD",
         (usd(2) - usd(4.5)) / annuity * usd(1.5)},
        {"product: a_swap_rate, looked: 1.5, begin: 2, payments: [3, 4], of: EUR",
         (std::exp(0.02) - 1) / (1 + std::exp(0.01)) * usd(1.5)},
        {"product: a_cms, days: [1.5], years: 10, of: USD", (usd(1.5) - usd(11.5)) / coupons * usd(1.5)},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.push_back(std::string(one.trade) + ", currency: USD");
    const auto rows = priced(own_products, curves, trades, 1 << 10, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        EXPECT_NEAR(rows[i].price, all[i].price, 1e-13) << trades[i];
    }
}

TEST(rates, of_days_gone_by_are_refused) {
    const struct {
        const char* trade;
        const char* expected;
    } all[] = {
        {"product: a_bond, looked: 2, maturity: 1, currency: USD", "'bond' for maturity"},
        {"product: a_forward_rate, looked: 1, from: 0.5, to: 2, currency: USD", "'forward_rate' for from"},
        {"product: an_annuity, looked: 3.75, begin: 3, payments: [3.5, 4.5], currency: USD",
         "counts the payment on"},
        {"product: an_annuity, looked: 1, begin: 4, payments: [3.5, 4.5], currency: USD",
         "expected before its first payment"},
        {"product: a_forward_rate, looked: 2026-01-05, from: 2026-01-05, to: 2, currency: USD",
         "the market does not know rates of the past"},
        {"product: a_cms, days: [1.0], years: 1.3, of: USD, currency: USD",
         "expected a whole number of payments"},
        {"product: a_bond, looked: 1, maturity: 2", "write currency:"},
        {"product: a_cms, days: [1.0], years: 1, of: JPY, currency: USD", "JPY"},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.emplace_back(one.trade);
    const auto rows = priced(own_products, curves, trades, 1 << 10, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NE(rows[i].status, trade_status::priced) << trades[i];
        EXPECT_NE(rows[i].message.find(all[i].expected), std::string::npos) << rows[i].message;
    }
}

TEST(rates, are_asked_for_in_so_many_words) {
    const auto refused = [](const std::string& line) {
        try {
            book::parse(
                "products:\n  - product: own\n    summary: Own.\n    parameters:\n      looked: {type: date, "
                "help: The day.}\n      payments: {type: schedule, help: The days.}\n      width: {type: "
                "number, help: A number.}\n    example: {looked: 1, payments: [2], width: 1}\n    script: |\n"
                "      on looked:\n          pay " +
                line + "\ntrades: []\n");
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_NE(refused("bond(looked, payments)").find("expected a currency, found a date"), std::string::npos);
    EXPECT_NE(refused("bond(currency, payments)").find("expected a date, found a schedule"),
              std::string::npos);
    EXPECT_NE(refused("annuity(currency, looked, looked)").find("expected a schedule"), std::string::npos);
    EXPECT_NE(refused("swap_rate(currency, looked, payments, \"act_361\")").find("unknown day count"),
              std::string::npos);
    EXPECT_NE(refused("constant_maturity_rate(currency, width + 1, 1)").find("decides which bonds"),
              std::string::npos);
    EXPECT_NE(refused("currency").find("expected a number, found a currency"), std::string::npos);
}

}  // namespace
}  // namespace tilewalk
