// SPDX-License-Identifier: Apache-2.0
// Every branch of the products on interest rates, computed by hand on a flat, deterministic curve, also in a
// period that began before today.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/played_trade.h"

namespace tilewalk::rates_scripts_test {
namespace {

using tests::acme;
using tests::path;
using tests::refusal;
using tests::usd;
using tests::worth;

// A path with flat rates of 3 percent in USD and 1 percent in EUR, as of 2026-01-15.
path flat() {
    path p = acme({});
    p.rates["EUR"] = 0.01;
    p.fx["EUR"] = {{0, 1.2}};
    return p;
}

double worth_of(const std::string& product, const std::string& terms) {
    return worth(product, terms, flat());
}

double interest(double years, double rate = 0.03) {
    return std::exp(rate * years) - 1;
}

double swap_rate(double years, int a_year, double rate = 0.03) {
    double sum = 0;
    for (int k = 1; k <= int(years * a_year); ++k) sum += std::exp(-rate * k / a_year);
    return (1 - std::exp(-rate * years)) * a_year / sum;
}

void refuses(const std::string& product, const std::string& terms, const std::string& reason) {
    EXPECT_NE(refusal(product, terms).find(reason), std::string::npos) << product << ": " << terms << "\n"
                                                                       << refusal(product, terms);
}

TEST(rates_scripts, zero_coupon_bond) {
    EXPECT_DOUBLE_EQ(worth_of("zero_coupon_bond", "maturity: 4, notional: 250"), 250 * usd(4));
    EXPECT_EQ(worth_of("zero_coupon_bond", "maturity: 2026-01-15"), 100) << "today it is paid";
    EXPECT_EQ(worth_of("zero_coupon_bond", "maturity: 2026-01-14"), 0) << "and yesterday it was";
}

TEST(rates_scripts, coupon_bond) {
    EXPECT_DOUBLE_EQ(worth_of("coupon_bond", "coupon_dates: [0.5, 1.5], coupon: 0.04"),
                     2 * usd(0.5) + 4 * usd(1.5) + 100 * usd(1.5));
    EXPECT_DOUBLE_EQ(worth_of("coupon_bond",
                              "coupon_dates: [1, 2], coupon: [0.04, 0.05], redemption: 1.02, notional: 1000"),
                     40 * usd(1) + 50 * usd(2) + 1020 * usd(2));
    // One coupon is past; the running one pays for its whole period, 182 days of 360.
    EXPECT_DOUBLE_EQ(worth_of("coupon_bond",
                              "coupon_dates: {start: 2025-04-01, end: 2026-04-01, every: 6m}, coupon: 0.04, "
                              "day_count: act_360"),
                     (100 + 4 * 182 / 360.0) * usd(76 / 365.0));
}

TEST(rates_scripts, floating_rate_note) {
    EXPECT_NEAR(worth_of("floating_rate_note", "payments: [0.5, 1.0, 2.0]"), 100, 1e-12);
    EXPECT_NEAR(worth_of("floating_rate_note", "begin: 1, payments: [1.5, 2.0], notional: 50"), 50 * usd(1),
                1e-12);
    const double half = interest(0.5);
    EXPECT_NEAR(worth_of("floating_rate_note", "payments: [0.5, 1.0], spread: 0.01"),
                100 * (half + 0.005) * (usd(0.5) + usd(1)) + 100 * usd(1), 1e-12);
    EXPECT_NEAR(worth_of("floating_rate_note", "payments: [0.5, 1.0], floor_rate: 0.05"),
                2.5 * (usd(0.5) + usd(1)) + 100 * usd(1), 1e-12);
    EXPECT_NEAR(worth_of("floating_rate_note", "payments: [0.5, 1.0], spread: 0.01, cap_rate: 0.02"),
                1.0 * (usd(0.5) + usd(1)) + 100 * usd(1), 1e-12);
    EXPECT_NEAR(worth_of("floating_rate_note", "payments: [0.5, 1.0], floor_rate: 0.01, cap_rate: 0.05"), 100,
                1e-12)
        << "between them it pays its rate";
    refuses("floating_rate_note", "payments: [1], floor_rate: 0.03, cap_rate: 0.02", "above the cap_rate");
    refuses("floating_rate_note", "begin: 1, payments: [1, 2]", "before the first");
}

TEST(rates_scripts, a_running_period_has_its_first_rate) {
    // From 2025-10-15 to 2026-04-15 and to 2026-10-15: periods of 182 and 183 days, which end in 90 and 273
    // days.
    const double t1 = 90 / 365.0, t2 = 273 / 365.0, length = 182 / 365.0, rest = interest(t2 - t1);
    const std::string begun = "begin: 2025-10-15, payments: [2026-04-15, 2026-10-15], first_rate: 0.05",
                      // The same period, with earlier payments before it.
        begun_later = "begin: 2025-07-15, payments: [2025-10-15, 2026-04-15, 2026-10-15], first_rate: 0.05";
    for (const std::string& terms : {begun, begun_later}) {
        EXPECT_NEAR(worth_of("floating_rate_note", terms),
                    100 * (0.05 * length * usd(t1) + rest * usd(t2) + usd(t2)), 1e-12)
            << terms;
        EXPECT_NEAR(worth_of("cap_floor", terms + ", strike: 0.02"),
                    100 * (0.03 * length * usd(t1) + (rest - 0.02 * 183 / 365.0) * usd(t2)), 1e-12)
            << terms;
        EXPECT_NEAR(worth_of("cap_floor", terms + ", strike: 0.06, option: floorlets"),
                    100 * (0.01 * length * usd(t1) + (0.06 * 183 / 365.0 - rest) * usd(t2)), 1e-12)
            << terms;
        EXPECT_NEAR(worth_of("cms_leg", terms + ", swap_years: 5, payments_a_year: 2"),
                    100 * (0.05 * length * usd(t1) + swap_rate(5, 2) * 183 / 365.0 * usd(t2)), 1e-12)
            << terms;
    }
    for (const std::string& terms :
         {std::string("begin: 2025-10-15, floating_payments: [2026-04-15, 2026-10-15]"),
          std::string("begin: 2025-07-15, floating_payments: [2025-10-15, 2026-04-15, "
                      "2026-10-15]")}) {
        EXPECT_NEAR(
            worth_of("swap", terms + ", fixed_payments: [2026-04-15], fixed_rate: 0, first_rate: 0.05"),
            100 * (0.05 * length * usd(t1) + rest * usd(t2)), 1e-12)
            << terms;
        refuses("swap", terms + ", fixed_payments: [2026-04-15], fixed_rate: 0", "first_rate");
    }
    for (const char* product : {"floating_rate_note", "cap_floor", "cms_leg"}) {
        const std::string more = product == std::string("cap_floor") ? ", strike: 0.02"
                                 : product == std::string("cms_leg") ? ", swap_years: 5"
                                                                     : "";
        refuses(product, "begin: 2025-10-15, payments: [2026-04-15]" + more, "first_rate");
        EXPECT_EQ(worth_of(product, "begin: 2025-10-15, payments: [2026-01-10]" + more), 0)
            << product << ": what has ended needs no rate";
        // A period that begins today has today's rate; a period that ends today is still paid.
        EXPECT_NE(worth_of(product, "begin: 2026-01-15, payments: [2026-04-15]" + more), 0) << product;
        EXPECT_NE(worth_of(product, "begin: 2025-10-15, first_rate: 0.05, payments: [2026-01-15]" + more), 0)
            << product;
    }
}

TEST(rates_scripts, swap) {
    // A swap is worth nothing at its par rate, elsewhere the difference of rates times the annuity.
    const double annuity = usd(1) + usd(2), par = (1 - usd(2)) / annuity;
    const std::string terms = "fixed_payments: [1, 2], floating_payments: [0.5, 1, 1.5, 2], fixed_rate: ";
    for (const double away : {0.0, 0.01, -0.02}) {
        const std::string at = terms + std::to_string(par + away);
        const double fixed = std::stod(std::to_string(par + away));
        EXPECT_NEAR(worth_of("swap", at), 100 * (par - fixed) * annuity, 1e-11);
        EXPECT_NEAR(worth_of("swap", at + ", side: receiver"), 100 * (fixed - par) * annuity, 1e-11);
    }
    EXPECT_NEAR(worth_of("swap",
                         "begin: 1, fixed_payments: [2], floating_payments: [1.5, 2], fixed_rate: 0.04, "
                         "spread: 0.01, notional: 1000"),
                1000 * (usd(1) - usd(2) - 0.04 * usd(2) + 0.005 * (usd(1.5) + usd(2))), 1e-10);
    // Day counts by leg: 90 and 91 days of 360 for floating payments, half a year of 30/360 for fixed ones.
    EXPECT_NEAR(
        worth_of(
            "swap",
            "begin: 2026-01-15, fixed_payments: [2026-07-15], floating_payments: [2026-04-15, 2026-07-15], "
            "fixed_rate: 0.04, spread: 0.01, fixed_day_count: thirty_360, floating_day_count: act_360"),
        100 * (1 - usd(181 / 365.0) - 0.02 * usd(181 / 365.0) + 0.01 * 90 / 360.0 * usd(90 / 365.0) +
               0.01 * 91 / 360.0 * usd(181 / 365.0)),
        1e-11);
    refuses("swap", "begin: 1, fixed_payments: [1, 2], floating_payments: [2], fixed_rate: 0.01",
            "before the first");
}

TEST(rates_scripts, cap_floor) {
    const double half = interest(0.5);
    for (const double strike : {0.02, 0.04}) {
        const std::string terms =
            "begin: 0.5, payments: [1, 1.5], notional: 1000, strike: " + std::to_string(strike);
        const double gain = half - 0.5 * strike;
        EXPECT_NEAR(worth_of("cap_floor", terms), 1000 * std::max(gain, 0.0) * (usd(1) + usd(1.5)), 1e-11);
        EXPECT_NEAR(worth_of("cap_floor", terms + ", option: floorlets"),
                    1000 * std::max(-gain, 0.0) * (usd(1) + usd(1.5)), 1e-11);
    }
    refuses("cap_floor", "begin: 1, payments: [0.5], strike: 0.01", "before the first");
}

TEST(rates_scripts, swaption) {
    const std::string terms = "expiry: 1, payments: [2, 3], notional: 1000, strike: ";
    const double floating = usd(1) - usd(3), annuity = usd(2) + usd(3);
    EXPECT_NEAR(worth_of("swaption", terms + "0.02"), 1000 * (floating - 0.02 * annuity), 1e-10);
    EXPECT_EQ(worth_of("swaption", terms + "0.02, option: receiver"), 0);
    EXPECT_EQ(worth_of("swaption", terms + "0.04"), 0);
    EXPECT_NEAR(worth_of("swaption", terms + "0.04, option: receiver"), 1000 * (0.04 * annuity - floating),
                1e-10);
    EXPECT_NEAR(worth_of("swaption", terms + "0.02, begin: 1.5"),
                1000 * (usd(1.5) - usd(3) - 0.02 * (0.5 * usd(2) + usd(3))), 1e-10);
    EXPECT_NEAR(worth_of("swaption", "expiry: 2026-01-15, payments: [1], strike: 0.01"),
                100 * (1 - usd(1) - 0.01 * usd(1)), 1e-11);
    EXPECT_EQ(
        worth_of("swaption", "expiry: 2026-01-14, begin: 2026-02-15, payments: [2027-02-15], strike: 0.01"),
        0);
    refuses("swaption", "expiry: 2, begin: 1, payments: [3], strike: 0.01", "at expiry or later");
    refuses("swaption", "expiry: 2, payments: [2, 3], strike: 0.01", "before the first");
}

TEST(rates_scripts, cms_leg) {
    const std::string terms =
        "begin: 1, payments: [1.5, 2.5], swap_years: 10, payments_a_year: 2, notional: 1000";
    const double rate = swap_rate(10, 2), paid = 1000 * (0.5 * usd(1.5) + usd(2.5));
    EXPECT_NEAR(worth_of("cms_leg", terms), rate * paid, 1e-10);
    EXPECT_NEAR(worth_of("cms_leg", terms + ", spread: -0.01"), (rate - 0.01) * paid, 1e-10);
    EXPECT_NEAR(worth_of("cms_leg", terms + ", floor_rate: 0.05"), 0.05 * paid, 1e-10);
    EXPECT_NEAR(worth_of("cms_leg", terms + ", spread: 0.01, cap_rate: 0.02"), 0.02 * paid, 1e-10);
    EXPECT_NEAR(worth_of("cms_leg", terms + ", rate_currency: EUR"), swap_rate(10, 2, 0.01) * paid, 1e-10);
    refuses("cms_leg", terms + ", floor_rate: 0.03, cap_rate: 0.02", "above the cap_rate");
    refuses("cms_leg", "begin: 2, payments: [1.5], swap_years: 10", "before the first");
}

TEST(rates_scripts, rate_future) {
    // The future settles after a quarter, and after half a year, when the rate of the quarter up to its end
    // is fixed. The first gain earns interest for a quarter.
    const std::string terms = "settlements: [0.25, 0.5], end: 0.75, traded_rate: 0.04, notional: 1000";
    const double rate = interest(0.25) / 0.25;
    EXPECT_NEAR(worth_of("rate_future", terms), 1000 * (0.04 - rate) * usd(0.25), 1e-12);
    EXPECT_NEAR(worth_of("rate_future", "settlements: [0.5], end: 0.75, traded_rate: 0.04"),
                100 * (0.04 - rate) * usd(0.5), 1e-12);
    EXPECT_NEAR(worth_of("rate_future", "settlements: [0, 0.2, 0.5], end: 0.75, traded_rate: 0.02"),
                100 * (0.02 - rate), 1e-12)
        << "settled today, it is paid what it is worth";
    EXPECT_NEAR(worth_of("rate_future", "settlements: [0], end: 0.25, traded_rate: 0.04"),
                100 * (0.04 - rate), 1e-12);
    // The rate's period is 2026-07-15 to 2026-10-15, 92 days. Settlements before today are past.
    const double days = interest(92 / 365.0) * 360 / 92;
    EXPECT_NEAR(worth_of("rate_future",
                         "settlements: [2025-12-15, 2026-01-14, 2026-04-15, 2026-07-15], end: 2026-10-15, "
                         "traded_rate: 0.035, day_count: act_360"),
                100 * (0.035 - days) * usd(90 / 365.0), 1e-12);
    EXPECT_EQ(
        worth_of("rate_future", "settlements: [2025-12-15, 2026-01-14], end: 2026-04-15, traded_rate: 1"), 0);
    refuses("rate_future", "settlements: [0.25, 0.5], end: 0.5, traded_rate: 0.04",
            "after the last of the settlements");
}

TEST(rates_scripts, rate_range_accrual) {
    // A quarter's simple rate is 3.01 percent in USD and 1.00 percent in EUR.
    const std::string terms =
        "observations: [0.25, 0.5, 0.75, 1.0], payments: [0.5, 1.0], coupon: 0.08, notional: 1000";
    const double coupons = 40 * (usd(0.5) + usd(1));
    EXPECT_NEAR(worth_of("rate_range_accrual", terms + ", lower: 0.03, upper: 0.031"), coupons, 1e-11);
    EXPECT_EQ(worth_of("rate_range_accrual", terms + ", lower: 0.031"), 0);
    EXPECT_EQ(worth_of("rate_range_accrual", terms + ", upper: 0.03"), 0);
    EXPECT_NEAR(worth_of("rate_range_accrual", terms + ", upper: 0.02, rate_currency: EUR"), coupons, 1e-11);
    EXPECT_NEAR(worth_of("rate_range_accrual", terms + ", redeems: true"), coupons + 1000 * usd(1), 1e-10);
    // The five-year swap rate with yearly payments is 3.05 percent.
    EXPECT_NEAR(worth_of("rate_range_accrual", terms + ", lower: 0.03045, rate_years: 5, payments_a_year: 1"),
                coupons, 1e-11);
    EXPECT_EQ(worth_of("rate_range_accrual", terms + ", lower: 0.0305, rate_years: 5, payments_a_year: 1"),
              0);
    // Three of four observations of the running period lie before today, and one of them counts; the next
    // period has a single one. The first period is past.
    const std::string running =
        "begin: 2025-07-15, observations: [2025-10-01, 2025-10-20, 2025-11-20, 2025-12-20, 2026-02-20, "
        "2026-05-20], "
        "payments: [2025-10-15, 2026-04-15, 2026-07-15], coupon: 0.08, lower: 0.02, so_far: 1";
    EXPECT_NEAR(worth_of("rate_range_accrual", running),
                8 * (182 / 365.0 * (2 / 4.0) * usd(90 / 365.0) + 91 / 365.0 * usd(181 / 365.0)), 1e-12);
    EXPECT_NEAR(worth_of("rate_range_accrual", running + ", day_count: act_360"),
                8 * (182 / 360.0 * (2 / 4.0) * usd(90 / 365.0) + 91 / 360.0 * usd(181 / 365.0)), 1e-12);
    refuses("rate_range_accrual", "begin: 0, observations: [1], payments: [0], coupon: 0.1",
            "before the first");
    refuses("rate_range_accrual", "observations: [1], payments: [1], coupon: 0.1, lower: 0.02, upper: 0.01",
            "below its upper end");
    refuses("rate_range_accrual", "observations: [2], payments: [1], coupon: 0.1",
            "after the last of the payments");
    refuses("rate_range_accrual",
            "begin: 2025-07-15, observations: [2025-10-01, 2026-02-20], payments: [2026-04-15], coupon: 0.1",
            "so_far");
}

}  // namespace
}  // namespace tilewalk::rates_scripts_test
