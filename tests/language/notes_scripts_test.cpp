// SPDX-License-Identifier: Apache-2.0
// Every branch of the scripts on several assets and of structured notes, on hand-written paths with payoffs
// computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/played_trade.h"

namespace tilewalk::notes_scripts_test {
namespace {

using tests::acme;
using tests::path;
using tests::refusal;
using tests::usd;
using tests::worth;

// A path with the prices at `times`, in a row for each asset: ACME, BETA, GAMMA.
path market(const std::vector<double>& times, const std::vector<std::vector<double>>& rows) {
    const std::vector<std::string> names{"ACME", "BETA", "GAMMA"};
    path p = acme({});
    for (std::size_t a = 0; a < rows.size(); ++a) {
        for (std::size_t i = 0; i < times.size(); ++i) p.spots[names[a]][times[i]] = rows[a][i];
    }
    return p;
}

// The probability that a path, with variance 0.04 a year, touches the level between two prices.
double touch_chance(double level, double from, double to, double years) {
    const double a = std::abs(std::log(from / level)), b = std::abs(std::log(to / level));
    return std::exp(-2 * a * b / (0.04 * years));
}

const std::string refused = "the terms of the trade are refused: ";

TEST(notes_scripts, basket) {
    const std::string terms = "basket: [ACME, BETA], weights: [0.5, -2], strike: 10, maturity: 2.0";
    const path p = market({2}, {{100}, {16}});  // worth 50 - 32 = 18
    EXPECT_DOUBLE_EQ(worth("basket", terms, p), 8 * usd(2));
    EXPECT_EQ(worth("basket", terms + ", option: put", p), 0);
    const path low = market({2}, {{80}, {16}});  // worth 40 - 32 = 8
    EXPECT_EQ(worth("basket", terms, low), 0);
    EXPECT_DOUBLE_EQ(worth("basket", terms + ", option: put", low), 2 * usd(2));
    EXPECT_DOUBLE_EQ(worth("basket", "basket: [ACME, BETA], strike: 100, maturity: 2.0", p), 16 * usd(2))
        << "one unit of each";
}

TEST(notes_scripts, spread) {
    const std::string terms =
        "long_asset: ACME, short_asset: BETA, long_weight: 0.5, short_weight: 2, strike: 10, maturity: 2.0";
    const path p = market({2}, {{100}, {16}}), low = market({2}, {{80}, {16}});
    EXPECT_DOUBLE_EQ(worth("spread", terms, p), 8 * usd(2));
    EXPECT_EQ(worth("spread", terms + ", option: put", p), 0);
    EXPECT_EQ(worth("spread", terms, low), 0);
    EXPECT_DOUBLE_EQ(worth("spread", terms + ", option: put", low), 2 * usd(2));
    EXPECT_DOUBLE_EQ(worth("spread", "long_asset: BETA, short_asset: ACME, strike: -100, maturity: 2.0", p),
                     16 * usd(2))
        << "a strike below zero";
}

TEST(notes_scripts, exchange) {
    const std::string terms =
        "received_asset: ACME, given_asset: BETA, received_units: 0.5, given_units: 2, maturity: 2.0";
    EXPECT_DOUBLE_EQ(worth("exchange", terms, market({2}, {{100}, {16}})), 18 * usd(2));
    EXPECT_EQ(worth("exchange", terms, market({2}, {{50}, {16}})), 0);
}

TEST(notes_scripts, best_of_and_worst_of) {
    // ACME, BETA and GAMMA perform at 1.25, 0.5 and 1.
    const path p = market({2}, {{125}, {8}, {4}});
    const std::string terms =
        "basket: [ACME, BETA, GAMMA], initial_level: [100, 16, 4], notional: 10, maturity: 2.0, strike: ";
    struct example {
        std::string option;
        double strike, of_best, of_worst;
    };
    for (const example& e : {example{"call", 0.25, 10, 2.5}, example{"call", 1, 2.5, 0},
                             example{"call", 1.5, 0, 0}, example{"put", 0.25, 0, 0}, example{"put", 1, 0, 5},
                             example{"put", 1.5, 2.5, 10}, example{"or_cash", 0.25, 12.5, 2.5},
                             example{"or_cash", 1, 12.5, 5}, example{"or_cash", 1.5, 15, 5}}) {
        const std::string all = terms + std::to_string(e.strike) + ", option: " + e.option;
        EXPECT_DOUBLE_EQ(worth("best_of", all, p), e.of_best * usd(2)) << all;
        EXPECT_DOUBLE_EQ(worth("worst_of", all, p), e.of_worst * usd(2)) << all;
    }
    const std::string prices = "basket: [ACME, BETA, GAMMA], maturity: 2.0, strike: 3";
    EXPECT_DOUBLE_EQ(worth("best_of", prices, p), 122 * usd(2));
    EXPECT_DOUBLE_EQ(worth("worst_of", prices, p), 1 * usd(2));
}

TEST(notes_scripts, rainbow) {
    const path p = market({2}, {{125}, {8}, {4}});  // performances 1.25, 1, 0.5, best first
    const std::string terms =
        "basket: [ACME, BETA, GAMMA], initial_level: [100, 16, 4], notional: 10, maturity: 2.0";
    EXPECT_DOUBLE_EQ(worth("rainbow", terms + ", weights: [0.5, 0.25, 2], strike: 1", p), 8.75 * usd(2));
    EXPECT_EQ(worth("rainbow", terms + ", weights: [0.5, 0.25, 2], strike: 2", p), 0);
    EXPECT_DOUBLE_EQ(worth("rainbow", terms + ", weights: [0.5, 0.25, 2], strike: 2, option: put", p),
                     1.25 * usd(2));
    EXPECT_EQ(worth("rainbow", terms + ", weights: [0.5, 0.25, 2], strike: 1, option: put", p), 0);
    EXPECT_DOUBLE_EQ(worth("rainbow", terms + ", weights: [0, 1, 0], strike: 0", p), 10 * usd(2))
        << "the second";
    const std::string other =
        "basket: [GAMMA, ACME, BETA], initial_level: [4, 100, 16], notional: 10, maturity: 2.0, strike: 1";
    EXPECT_DOUBLE_EQ(worth("rainbow", other + ", weights: [0.5, 0.25, 2]", p), 8.75 * usd(2));
}

TEST(notes_scripts, himalaya) {
    const std::string terms =
        "basket: [ACME, BETA, GAMMA], initial_level: [100, 16, 4], observations: [0.5, 1.0, 2.0], notional: "
        "8";
    // BETA counts at 1.5; then GAMMA at 2, though BETA stands at 4; then ACME, the only one left, at 0.5.
    const path p = market({0.5, 1, 2}, {{100, 125, 50}, {24, 64, 64}, {5, 8, 40}});
    EXPECT_DOUBLE_EQ(worth("himalaya", terms, p), 8 * (4.0 / 3 - 1) * usd(2));
    EXPECT_EQ(worth("himalaya", terms + ", strike: 1.5", p), 0);
    const path tie = market({0.5, 1, 2}, {{150, 100, 100}, {24, 32, 16}, {2, 2, 2}});
    EXPECT_DOUBLE_EQ(worth("himalaya", terms, tie), 8 * ((1.5 + 2 + 0.5) / 3 - 1) * usd(2));
    // Two dates of three assets: one asset never counts.
    EXPECT_DOUBLE_EQ(
        worth("himalaya",
              "basket: [ACME, BETA, GAMMA], initial_level: [100, 16, 4], observations: [0.5, 1.0], "
              "strike: 0.75, notional: 8",
              p),
        8 * (1.75 - 0.75) * usd(1));
    EXPECT_EQ(
        refusal("himalaya", "basket: [ACME], initial_level: 1, observations: [0.5, 1.0]"),
        refused +
            "there are more observations than assets: each observation takes one asset out of the basket");
}

TEST(notes_scripts, himalaya_that_has_started) {
    path p = market({-10 / 365.0, 1}, {{120, 50}, {16, 24}});
    EXPECT_DOUBLE_EQ(
        worth("himalaya",
              "basket: [ACME, BETA], initial_level: [100, 16], observations: [2026-01-05, 2027-01-15], "
              "notional: 10",
              p),
        10 * ((1.2 + 1.5) / 2 - 1) * usd(1));
}

TEST(notes_scripts, volatility_swap) {
    const std::string terms =
        "underlying: ACME, fixings: [0.0, 0.5, 1.0], strike: 0.25, annualisation: 2, notional: 10";
    const double e = std::exp(0.5);
    EXPECT_NEAR(worth("volatility_swap", terms, acme({{0, 100}, {0.5, 100 * e}, {1, 100}})),
                10 * (std::sqrt(0.5) - 0.25) * usd(1), 1e-13);
    EXPECT_DOUBLE_EQ(worth("volatility_swap", terms, acme({{0, 100}, {0.5, 100}, {1, 100}})), -2.5 * usd(1))
        << "nothing moved";
    EXPECT_NEAR(
        worth("volatility_swap",
              "underlying: ACME, fixings: [2025-12-31, 2026-01-15, 2027-01-15], strike: 0, annualisation: 2",
              acme({{-15 / 365.0, 100 / e}, {0, 100}, {1, 100}})),
        0.5 * usd(1), 1e-13)
        << "the first return has passed";
    EXPECT_EQ(refusal("volatility_swap", "underlying: ACME, fixings: [1.0], strike: 0.2"),
              refused + "a volatility swap needs at least two fixings: the first and the last");
}

TEST(notes_scripts, corridor_variance_swap) {
    const double e = std::exp(0.5), f = std::exp(0.25);
    const std::string terms =
        "underlying: ACME, fixings: [0.0, 0.5, 1.0, 1.5, 2.0], strike: 0.5, annualisation: 4, notional: 10";
    // Returns are 0.5, -0.25, -0.25 and 0.5. The range [90, 130] contains the fixing before the first, third
    // and fourth return, and the fixing after the second and third.
    const path p = acme({{0, 100}, {0.5, 100 * e}, {1, 100 * f}, {1.5, 100}, {2, 100 * e}});
    const double earlier = 0.25 + 0.0625 + 0.25, later = 0.0625 + 0.0625;
    const std::string range = terms + ", lower: 90, upper: 130";
    EXPECT_NEAR(worth("corridor_variance_swap", range, p), 10 * (earlier - 0.25) * usd(2), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", range + ", strike_on: counted", p),
                10 * (earlier - 0.25 * 3 / 4) * usd(2), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", range + ", deciding_fixing: later", p),
                10 * (later - 0.25) * usd(2), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", range + ", deciding_fixing: later, strike_on: counted", p),
                10 * (later - 0.25 * 2 / 4) * usd(2), 1e-13);
    // Prices at the ends count as in the range; without a range the product is a variance swap.
    EXPECT_NEAR(worth("corridor_variance_swap", terms + ", lower: 100, upper: 100.5", p),
                10 * (0.25 + 0.25 - 0.25) * usd(2), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", terms + ", lower: 99.5, upper: 100", p),
                10 * (0.25 + 0.25 - 0.25) * usd(2), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", terms, p), worth("variance_swap", terms, p), 1e-13);
    EXPECT_NEAR(worth("corridor_variance_swap", terms + ", deciding_fixing: later", p),
                worth("variance_swap", terms, p), 1e-13);
    EXPECT_EQ(refusal("corridor_variance_swap", "underlying: ACME, fixings: [1.0], strike: 0.2"),
              refused + "a variance swap needs at least two fixings: the first and the last");
    EXPECT_EQ(refusal("corridor_variance_swap", terms + ", lower: 90, upper: 90"),
              refused + "the lower end of the range must be below its upper end");
}

TEST(notes_scripts, range_accrual) {
    const std::string terms =
        "basket: [ACME, BETA], lower: [90, 10], upper: [110, 20], observations: [0.25, 0.5, 0.75, 1.0], "
        "coupon: 0.25, "
        "maturity: 2.0, notional: 64";
    // Four days: both in range; both at an end of it; ACME above it; BETA below it.
    const path p = market({0.25, 0.5, 0.75, 1}, {{100, 90, 111, 100}, {15, 20, 15, 9}});
    EXPECT_DOUBLE_EQ(worth("range_accrual", terms, p), 8 * usd(2));
    EXPECT_DOUBLE_EQ(worth("range_accrual", terms + ", redeems: true", p), 72 * usd(2));
    const path other = market({0.25, 0.5, 0.75, 1}, {{89, 110, 100, 100}, {15, 10, 21, 15}});
    EXPECT_DOUBLE_EQ(worth("range_accrual", terms, other), 8 * usd(2));
    // One asset, in a range without an upper end; two of four observations are no longer ahead.
    EXPECT_DOUBLE_EQ(
        worth("range_accrual",
              "basket: [ACME], lower: 95, observations: [2025-12-31, 2026-01-15, 2026-07-15, 2027-01-15], "
              "coupon: 0.5, maturity: 2027-01-15",
              acme({{-15 / 365.0, 96}, {0, 94}, {181 / 365.0, 1000}, {1, 90}})),
        25 * usd(1));
    EXPECT_EQ(refusal("range_accrual",
                      "basket: [ACME, BETA], lower: [1, 5], upper: 5, observations: [1.0], coupon: "
                      "0.1, maturity: 1.0"),
              refused + "the lower end of a range must be below its upper end");
    EXPECT_EQ(
        refusal("range_accrual", "basket: [ACME], observations: [0.5, 2.0], coupon: 0.1, maturity: 1.0"),
        refused + "the last of the observations comes after maturity");
}

TEST(notes_scripts, autocallable_on_one_asset) {
    const std::string terms =
        "basket: [ACME], initial_level: 100, observations: [0.5, 1.0], coupon: [0.125, 0.25], protection: "
        "0.5, "
        "notional: 1000";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, acme({{0.5, 100}, {1, 1}})), 1125 * usd(0.5));
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, acme({{0.5, 99}, {1, 100}})), 1250 * usd(1));
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, acme({{0.5, 99}, {1, 50}})), 1000 * usd(1));
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, acme({{0.5, 99}, {1, 25}})), 250 * usd(1));
}

const std::string phoenix =
    "basket: [ACME, BETA], initial_level: [100, 16], observations: [0.5, 1.0, 2.0], coupon: [0.125, 0.25, "
    "0.5], "
    "coupon_barrier: [0.75, 0.75, 0.5], protection: 0.5, notional: 1000";

TEST(notes_scripts, phoenix_pays_its_coupons) {
    // The worst asset performs at 0.75, 0.5 and 0.625 on the three dates; the note is never called.
    const path paid = market({0.5, 1, 2}, {{200, 200, 62.5}, {12, 8, 16}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix, paid),
                     125 * usd(0.5) + (500 + 250) * usd(2) + 1000 * usd(2));
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix + ", memory: false", paid),
                     125 * usd(0.5) + 500 * usd(2) + 1000 * usd(2));
    // The coupon is missed twice; all three are paid on the third date.
    const path late = market({0.5, 1, 2}, {{50, 50, 50}, {16, 16, 16}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix, late),
                     (125 + 250 + 500) * usd(2) + 1000 * usd(2));
    // All coupons are missed, and the worst asset ends below the protection level.
    const path never = market({0.5, 1, 2}, {{50, 50, 25}, {16, 16, 16}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix, never), 250 * usd(2));
}

TEST(notes_scripts, phoenix_is_called) {
    const path at_once = market({0.5, 1, 2}, {{100, 1, 1}, {16, 1, 1}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix, at_once), 1125 * usd(0.5));
    const path later = market({0.5, 1, 2}, {{50, 125, 1}, {16, 16, 1}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix, later), (1000 + 125 + 250) * usd(1));
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix + ", call_level: [1, 1.5, 1]", later),
                     (125 + 250) * usd(1) + 10 * usd(2))
        << "not at 1.5";
    // The third observation is the first that may call the note, and pays its own coupon as well.
    const path high = market({0.5, 1, 2}, {{100, 100, 100}, {16, 16, 16}});
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix + ", first_call: 3", high),
                     125 * usd(0.5) + 250 * usd(1) + 1500 * usd(2));
    // A note called below the coupon barrier is redeemed without a coupon.
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", phoenix + ", call_level: 0.5",
                           market({0.5, 1, 2}, {{50, 1, 1}, {16, 1, 1}})),
                     1000 * usd(0.5));
}

TEST(notes_scripts, phoenix_protection_on_dates) {
    const std::string terms = phoenix + ", watched: on_dates, watching_dates: [0.25, 1.5]";
    const auto along = [](double beta_early, double acme_late, double acme_last) {
        return market({0.25, 0.5, 1, 1.5, 2},
                      {{100, 99, 99, acme_late, acme_last}, {beta_early, 16, 16, 16, 16}});
    };
    const double coupons = 125 * usd(0.5) + 250 * usd(1);
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, along(8.5, 51, 75)), coupons + 1500 * usd(2))
        << "held";
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, along(8, 51, 75)), coupons + (500 + 750) * usd(2))
        << "BETA closed on its barrier";
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, along(16, 49, 75)), coupons + (500 + 750) * usd(2));
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, along(16, 51, 40)), coupons + 1000 * usd(2))
        << "below the barrier on a day that is not watched";
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms + ", first_call: 4", along(8, 51, 200)),
                     coupons + 1500 * usd(2))
        << "broken, but it ends above par";
}

TEST(notes_scripts, phoenix_protection_at_every_moment) {
    const std::string one =
        "basket: [ACME], initial_level: 100, observations: [1.0, 2.0], coupon: 0.125, coupon_barrier: 0.5, "
        "protection: 0.75, watched: continuous, notional: 1000";
    const double held = (1 - touch_chance(75, 100, 90, 1)) * (1 - touch_chance(75, 90, 80, 1));
    EXPECT_NEAR(worth("phoenix_autocallable", one, acme({{0, 100}, {1, 90}, {2, 80}})),
                125 * usd(1) + (125 + 1000 * (held + (1 - held) * 0.8)) * usd(2), 1e-11);
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", one, acme({{0, 100}, {1, 70}, {2, 80}})),
                     125 * usd(1) + 925 * usd(2))
        << "beyond it at an end";
    // Two assets, each with its own probability of a touch between the watching dates.
    const std::string two = phoenix + ", watched: continuous, watching_dates: [1.0, 2.0]";
    const double chance = (1 - touch_chance(50, 100, 60, 0.5)) * (1 - touch_chance(8, 16, 16, 0.5)) *
                          (1 - touch_chance(50, 60, 60, 0.5)) * (1 - touch_chance(8, 16, 9, 0.5)) *
                          (1 - touch_chance(50, 60, 80, 1)) * (1 - touch_chance(8, 9, 16, 1));
    EXPECT_NEAR(
        worth("phoenix_autocallable", two, market({0, 0.5, 1, 2}, {{100, 60, 60, 80}, {16, 16, 9, 16}})),
        (125 + 250 + 500 + 1000 * (chance + (1 - chance) * 0.8)) * usd(2), 1e-11);
}

TEST(notes_scripts, phoenix_that_has_started) {
    const std::string terms =
        "basket: [ACME], initial_level: 100, observations: [2025-12-31, 2026-01-15, 2027-01-15], coupon: "
        "0.125, "
        "coupon_barrier: 0.75, protection: 0.5, notional: 1000";
    const double early = -15 / 365.0;
    EXPECT_EQ(worth("phoenix_autocallable", terms, acme({{early, 100}, {0, 40}, {1, 40}})), 0)
        << "called and paid before today";
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, acme({{early, 70}, {0, 80}, {1, 80}})),
                     250 + 1125 * usd(1))
        << "the missed coupon comes today";
    EXPECT_DOUBLE_EQ(worth("phoenix_autocallable", terms, acme({{early, 80}, {0, 70}, {1, 80}})),
                     1250 * usd(1))
        << "the first coupon is gone";
    EXPECT_DOUBLE_EQ(
        worth("phoenix_autocallable",
              "basket: [ACME], initial_level: 100, observations: [2027-01-15], coupon: 0.125, protection: "
              "0.5, watched: continuous, watching_start: 2025-12-01, notional: 1000",
              acme({{early, 50}, {0, 100}, {1, 80}})),
        925 * usd(1))
        << "broken before today";
}

TEST(notes_scripts, phoenix_terms_that_make_no_sense_are_refused) {
    const auto why = [&](const std::string& more) { return refusal("phoenix_autocallable", phoenix + more); };
    EXPECT_EQ(why(", watching_dates: [1.0]"),
              refused + "watching_dates are for a barrier watched on_dates or continuous");
    EXPECT_EQ(why(", watched: on_dates"), refused + "a barrier watched on_dates needs watching_dates");
    EXPECT_EQ(why(", watched: continuous"),
              refused + "a continuous barrier on several assets needs watching_dates, such as daily ones");
    EXPECT_EQ(why(", watched: on_dates, watching_dates: [3.0]"),
              refused + "the last of the watching_dates comes after the last of the observations");
}

TEST(notes_scripts, reverse_convertible) {
    const std::string terms =
        "basket: [ACME, BETA], initial_level: [100, 16], strike: 0.8, coupon_dates: [0.5, 1.0], coupon: "
        "[0.125, 0.25], "
        "maturity: 2.0, notional: 1000";
    const double coupons = 125 * usd(0.5) + 250 * usd(1);
    EXPECT_DOUBLE_EQ(worth("reverse_convertible", terms, market({0.5, 1, 2}, {{1, 1, 80}, {1, 1, 100}})),
                     coupons + 1000 * usd(2));
    EXPECT_DOUBLE_EQ(worth("reverse_convertible", terms, market({0.5, 1, 2}, {{1, 1, 200}, {1, 1, 6.4}})),
                     coupons + 500 * usd(2));
    EXPECT_EQ(
        refusal("reverse_convertible",
                "basket: [ACME], initial_level: 100, coupon_dates: [0.5, 2.0], coupon: 0.1, maturity: 1.0"),
        refused + "the last of the coupon_dates comes after maturity");
}

TEST(notes_scripts, barrier_reverse_convertible) {
    const std::string terms =
        "basket: [ACME, BETA], initial_level: [100, 16], strike: 0.8, barrier: 0.5, coupon_dates: [1.0], "
        "coupon: 0.25, "
        "maturity: 2.0, notional: 1000";
    const std::string on_dates = terms + ", watched: on_dates, watching_dates: [0.5, 2.0]";
    const auto along = [](double beta_early, double acme_last) {
        return market({0.5, 1, 2}, {{100, 10, acme_last}, {beta_early, 1, 16}});
    };
    const double coupon = 250 * usd(1);
    EXPECT_DOUBLE_EQ(worth("barrier_reverse_convertible", on_dates, along(9, 60)), coupon + 1000 * usd(2))
        << "below the strike, never at the barrier on a watched day";
    EXPECT_DOUBLE_EQ(worth("barrier_reverse_convertible", on_dates, along(8, 60)), coupon + 750 * usd(2));
    EXPECT_DOUBLE_EQ(worth("barrier_reverse_convertible", on_dates, along(8, 80)), coupon + 1000 * usd(2))
        << "touched, but it ends at the strike";
    EXPECT_DOUBLE_EQ(worth("barrier_reverse_convertible", on_dates, along(9, 40)), coupon + 500 * usd(2))
        << "touched on the last day";

    const std::string one =
        "basket: [ACME], initial_level: 100, barrier: 0.75, coupon_dates: [2.0], coupon: 0.25, maturity: "
        "2.0, "
        "notional: 1000";
    const double held = 1 - touch_chance(75, 100, 80, 2);
    EXPECT_NEAR(worth("barrier_reverse_convertible", one, acme({{0, 100}, {2, 80}})),
                (250 + 1000 * (held + (1 - held) * 0.8)) * usd(2), 1e-11);
    EXPECT_DOUBLE_EQ(worth("barrier_reverse_convertible", one + ", watching_start: 2025-12-01",
                           acme({{-10 / 365.0, 75}, {0, 100}, {2, 80}})),
                     1050 * usd(2))
        << "touched before today";
    const std::string two = terms + ", watched: continuous, watching_dates: [1.0]";
    const double both = (1 - touch_chance(50, 100, 60, 1)) * (1 - touch_chance(8, 16, 12, 1)) *
                        (1 - touch_chance(50, 60, 90, 1)) * (1 - touch_chance(8, 12, 9.6, 1));
    EXPECT_NEAR(worth("barrier_reverse_convertible", two, market({0, 1, 2}, {{100, 60, 90}, {16, 12, 9.6}})),
                coupon + 1000 * (both + (1 - both) * 0.75) * usd(2), 1e-11);
}

TEST(notes_scripts, barrier_reverse_convertible_terms_that_make_no_sense_are_refused) {
    const auto why = [&](const std::string& terms) {
        return refusal("barrier_reverse_convertible",
                       "initial_level: 100, coupon: 0.1, maturity: 1.0, coupon_dates: " + terms);
    };
    EXPECT_EQ(why("[1.0], basket: [ACME], barrier: 0.9, strike: 0.8"),
              refused + "the barrier must not be above the strike");
    EXPECT_EQ(why("[2.0], basket: [ACME], barrier: 0.8"),
              refused + "the last of the coupon_dates comes after maturity");
    EXPECT_EQ(why("[1.0], basket: [ACME], barrier: 0.8, watched: on_dates"),
              refused + "a barrier watched on_dates needs watching_dates");
    EXPECT_EQ(why("[1.0], basket: [ACME, BETA], barrier: 0.8"),
              refused + "a continuous barrier on several assets needs watching_dates, such as daily ones");
    EXPECT_EQ(why("[1.0], basket: [ACME], barrier: 0.8, watched: on_dates, watching_dates: [1.5]"),
              refused + "the last of the watching_dates comes after maturity");
}

TEST(notes_scripts, capital_protected_note) {
    const std::string terms =
        "basket: [ACME, BETA], initial_level: [100, 16], protection: 0.75, participation: 2, maturity: 2.0, "
        "notional: 1000";
    const path up = market({2}, {{150}, {20}}),
               down = market({2}, {{50}, {20}});  // averages of 1.375 and 0.875
    EXPECT_DOUBLE_EQ(worth("capital_protected_note", terms, up), 1500 * usd(2));
    EXPECT_DOUBLE_EQ(worth("capital_protected_note", terms, down), 750 * usd(2));
    EXPECT_DOUBLE_EQ(worth("capital_protected_note", terms + ", cap: 0.25", up), 1250 * usd(2));
    EXPECT_DOUBLE_EQ(worth("capital_protected_note", terms + ", strike: 0.5", down), 1500 * usd(2));
}

TEST(notes_scripts, accumulator) {
    const std::string terms = "underlying: ACME, observations: [0.5, 1.0, 2.0], units: 4, gearing: 3, ";
    const std::string buys = terms + "strike: 96, barrier: 128";
    EXPECT_DOUBLE_EQ(worth("accumulator", buys, acme({{0.5, 100}, {1, 90}, {2, 96}})),
                     4 * 4 * usd(0.5) - 3 * 4 * 6 * usd(1));
    EXPECT_DOUBLE_EQ(worth("accumulator", buys, acme({{0.5, 100}, {1, 128}, {2, 90}})), 16 * usd(0.5))
        << "knocked out at the barrier";
    const std::string sells = terms + "side: decumulate, strike: 112, barrier: 80";
    EXPECT_DOUBLE_EQ(worth("accumulator", sells, acme({{0.5, 100}, {1, 120}, {2, 112}})),
                     4 * 12 * usd(0.5) - 3 * 4 * 8 * usd(1));
    EXPECT_DOUBLE_EQ(worth("accumulator", sells, acme({{0.5, 100}, {1, 80}, {2, 120}})), 48 * usd(0.5));

    const path p = acme({{0, 100}, {0.5, 100}, {1, 90}, {2, 100}});
    const double first = 1 - touch_chance(128, 100, 100, 0.5),
                 second = first * (1 - touch_chance(128, 100, 90, 0.5)),
                 third = second * (1 - touch_chance(128, 90, 100, 1));
    EXPECT_NEAR(worth("accumulator", buys + ", watched: continuous", p),
                first * 16 * usd(0.5) - second * 72 * usd(1) + third * 16 * usd(2), 1e-11);
    const double one = 1 - touch_chance(80, 100, 100, 0.5), two = one * (1 - touch_chance(80, 100, 90, 0.5)),
                 three = two * (1 - touch_chance(80, 90, 100, 1));
    EXPECT_NEAR(worth("accumulator", sells + ", watched: continuous", p),
                one * 48 * usd(0.5) + two * 88 * usd(1) + three * 48 * usd(2), 1e-11);

    EXPECT_EQ(refusal("accumulator", terms + "strike: 100, barrier: 100"),
              refused + "the barrier of an accumulator must be above its strike");
    EXPECT_EQ(refusal("accumulator", terms + "side: decumulate, strike: 100, barrier: 100"),
              refused + "the barrier of a decumulator must be below its strike");
}

TEST(notes_scripts, accumulator_that_has_started) {
    const std::string terms =
        "underlying: ACME, strike: 96, barrier: 128, observations: [2025-12-31, 2026-01-15, 2027-01-15]";
    EXPECT_EQ(worth("accumulator", terms, acme({{-15 / 365.0, 128}, {0, 100}, {1, 100}})), 0);
    EXPECT_DOUBLE_EQ(worth("accumulator", terms, acme({{-15 / 365.0, 100}, {0, 100}, {1, 92}})),
                     4 - 8 * usd(1));
}

TEST(notes_scripts, target_redemption_forward) {
    const std::string terms =
        "underlying: ACME, strike: 100, fixings: [0.5, 1.0, 1.5, 2.0], target: 16, gearing: 3, units: 4";
    struct example {
        std::string rule;
        double last;
    };
    for (const example& e : {example{"full", 20}, example{"exact", 6}, example{"none", 0}}) {
        const std::string rule = terms + ", at_target: " + e.rule;
        const std::string sells = rule + ", side: sell";
        // Gains of ten, minus five and twenty reach the target, and the last fixing no longer counts.
        EXPECT_DOUBLE_EQ(
            worth("target_redemption_forward", rule, acme({{0.5, 110}, {1, 95}, {1.5, 120}, {2, 1}})),
            40 * usd(0.5) - 60 * usd(1) + 4 * e.last * usd(1.5))
            << e.rule;
        EXPECT_DOUBLE_EQ(
            worth("target_redemption_forward", sells, acme({{0.5, 90}, {1, 105}, {1.5, 80}, {2, 200}})),
            40 * usd(0.5) - 60 * usd(1) + 4 * e.last * usd(1.5))
            << e.rule;
        EXPECT_DOUBLE_EQ(
            worth("target_redemption_forward", rule, acme({{0.5, 116}, {1, 1}, {1.5, 1}, {2, 1}})),
            e.rule == "none" ? 0 : 64 * usd(0.5))
            << e.rule;
        EXPECT_DOUBLE_EQ(
            worth("target_redemption_forward", rule, acme({{0.5, 105}, {1, 100}, {1.5, 105}, {2, 99}})),
            20 * usd(0.5) + 20 * usd(1.5) - 12 * usd(2))
            << e.rule;
    }
    EXPECT_DOUBLE_EQ(worth("target_redemption_forward",
                           "underlying: ACME, strike: 100, fixings: [2025-12-31, 2027-01-15], target: 16",
                           acme({{-15 / 365.0, 110}, {1, 120}})),
                     6 * usd(1));
}

}  // namespace
}  // namespace tilewalk::notes_scripts_test
