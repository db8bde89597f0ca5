// SPDX-License-Identifier: Apache-2.0
// Every branch of the scripts on one asset, on hand-written paths with payoffs computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/played_trade.h"

namespace tilewalk::single_asset_scripts_test {
namespace {

using tests::acme;
using tests::path;
using tests::refusal;
using tests::usd;
using tests::worth;

const std::string refused = "the terms of the trade are refused: ";

// A bridge between two prices whose logarithm has a variance of 0.04 a year: the probability of a touch, and
// the extremes that a uniform number samples.
double touch(double level, double from, double to, double years) {
    const double a = std::log(from / level), b = std::log(to / level);
    return a * b <= 0 ? 1 : std::exp(-2 * a * b / (0.04 * years));
}
double lowest(double from, double to, double years, double uniform) {
    const double move = std::log(to / from);
    return from * std::exp(0.5 * (move - std::sqrt(move * move - 0.08 * years * std::log(uniform))));
}
double highest(double from, double to, double years, double uniform) {
    const double move = std::log(to / from);
    return from * std::exp(0.5 * (move + std::sqrt(move * move - 0.08 * years * std::log(uniform))));
}
// The sampled time of touch, for a normal and a uniform that select the first of the method's two roots.
double touch_time(double level, double from, double to, double start, double years) {
    const double a = std::abs(std::log(from / level)), b = std::abs(std::log(to / level));
    const double mu = a / b, lambda = a * a / (0.04 * years), nu = 0.25;
    const double y = mu + mu * mu * nu / (2 * lambda) -
                     mu / (2 * lambda) * std::sqrt(4 * mu * lambda * nu + mu * mu * nu * nu);
    const double s = 0.5 <= mu / (mu + y) ? y : mu * mu / y;
    return start + years * s / (1 + s);
}
path sampled(path p) {
    p.normals = p.uniforms = {0.5, 0.5, 0.5, 0.5};
    return p;
}

struct ending {
    double price, call, put;
};

TEST(single_asset_scripts, digital_that_pays_the_asset) {
    const std::string call = "underlying: ACME, strike: 100, payout: 2, pays: asset, maturity: 2.0",
                      put = call + ", option: put";
    for (const ending& e : {ending{112, 224, 0}, ending{100, 200, 0}, ending{99.5, 0, 199}}) {
        EXPECT_DOUBLE_EQ(worth("digital", call, acme({{2, e.price}})), e.call * usd(2)) << e.price;
        EXPECT_DOUBLE_EQ(worth("digital", put, acme({{2, e.price}})), e.put * usd(2)) << e.price;
    }
}

TEST(single_asset_scripts, gap_option) {
    const std::string call = "underlying: ACME, strike: 100, trigger: 90, maturity: 2.0",
                      put = call + ", option: put";
    for (const ending& e : {ending{112, 12, 0}, ending{90, -10, 0}, ending{89, 0, 11}}) {
        EXPECT_DOUBLE_EQ(worth("gap_option", call, acme({{2, e.price}})), e.call * usd(2)) << e.price;
        EXPECT_DOUBLE_EQ(worth("gap_option", put, acme({{2, e.price}})), e.put * usd(2)) << e.price;
    }
}

TEST(single_asset_scripts, asian_geometric_weighted_and_on_a_mean) {
    const path p = acme({{0.5, 64}, {1, 100}, {1.5, 128}, {2, 120}});
    const std::string dates = "underlying: ACME, averaging_dates: [0.5, 1.0, 1.5, 2.0], ";
    EXPECT_NEAR(worth("asian", dates + "strike: 90, mean: geometric", p),
                (std::pow(64.0 * 100 * 128 * 120, 0.25) - 90) * usd(2), 1e-12);
    EXPECT_NEAR(worth("asian", dates + "strike: 90, weights: [1, 1, 2, 4]", p),
                ((64 + 100 + 2 * 128 + 4 * 120) / 8.0 - 90) * usd(2), 1e-12);
    EXPECT_NEAR(worth("asian", dates + "strike: 90, mean: geometric, weights: [1, 1, 2, 4]", p),
                (std::pow(64.0 * 100 * 128 * 128 * std::pow(120.0, 4), 0.125) - 90) * usd(2), 1e-12);
    const std::string floating = "underlying: ACME, averaging_dates: [2.0], strike_dates: [0.5, 1.0]";
    EXPECT_NEAR(worth("asian", floating, p), (120 - 82) * usd(2), 1e-12);
    EXPECT_EQ(worth("asian", floating + ", option: put", p), 0);
    EXPECT_NEAR(worth("asian", floating + ", strike_weights: [1, 3]", p), (120 - 91) * usd(2), 1e-12);
    EXPECT_NEAR(worth("asian", floating + ", mean: geometric", p), (120 - 80) * usd(2), 1e-12);
    EXPECT_NEAR(worth("asian", floating + ", mean: geometric, strike_weights: [1, 3]", p),
                (120 - std::pow(64.0 * 1e6, 0.25)) * usd(2), 1e-12);
    EXPECT_NEAR(worth("asian",
                      "underlying: ACME, averaging_dates: [0.5, 1.0], strike_dates: [0.5, 1.0], option: put, "
                      "weights: [3, 1]",
                      p),
                (82 - 73) * usd(1), 1e-12)
        << "average out below average in";
    EXPECT_EQ(refusal("asian", "underlying: ACME, averaging_dates: [1.0]"),
              refused + "no strike; expected strike, or strike_dates for one that is averaged");
    EXPECT_EQ(refusal("asian", "underlying: ACME, averaging_dates: [1.0], strike: 1, strike_dates: [0.5]"),
              refused + "a strike and strike_dates are both given; expected one of them");
    EXPECT_EQ(refusal("asian", "underlying: ACME, averaging_dates: [1.0], strike_dates: [0.5, 1.5]"),
              refused + "the last of the strike_dates comes after the last of the averaging_dates");
}

TEST(single_asset_scripts, partial_barrier) {
    const path p = acme({{0, 100}, {0.5, 105}, {1, 120}, {2, 110}});
    const std::string terms = "underlying: ACME, maturity: 2.0, rebate: 3, monitoring_start: 0.5, ";
    const double down = (1 - touch(90, 105, 120, 0.5)) * (1 - touch(90, 120, 110, 1));
    EXPECT_NEAR(worth("partial_barrier", terms + "strike: 104, barrier: 90", p),
                (down * 6 + (1 - down) * 3) * usd(2), 1e-12);
    EXPECT_NEAR(worth("partial_barrier", terms + "strike: 104, barrier: 90, kind: knock_in", p),
                ((1 - down) * 6 + down * 3) * usd(2), 1e-12);
    const double early = 1 - touch(130, 105, 120, 0.5);
    EXPECT_NEAR(
        worth("partial_barrier",
              terms + "option: put, strike: 118, direction: up, barrier: 130, monitoring_end: 1.0", p),
        (early * 8 + (1 - early) * 3) * usd(2), 1e-12);
    EXPECT_NEAR(worth("partial_barrier", terms + "strike: 104, direction: either, barrier: 90", p),
                (down * 6 + (1 - down) * 3) * usd(2), 1e-12)
        << "from above";
    const double up = (1 - touch(130, 105, 120, 0.5)) * (1 - touch(130, 120, 110, 1));
    EXPECT_NEAR(worth("partial_barrier", terms + "strike: 104, direction: either, barrier: 130", p),
                (up * 6 + (1 - up) * 3) * usd(2), 1e-12)
        << "from below";
    EXPECT_NEAR(worth("partial_barrier", terms + "strike: 104, direction: either, barrier: 115", p),
                3 * usd(2), 1e-12)
        << "across";
    const std::string begun =
        "underlying: ACME, strike: 104, maturity: 2.0, direction: either, barrier: 100, "
        "monitoring_start: 2025-12-01";
    const double week = 7 / 365.0;
    EXPECT_EQ(worth("partial_barrier", begun, acme({{-2 * week, 95}, {-week, 105}, {0, 106}, {2, 110}})), 0)
        << "across between two fixings";
    EXPECT_NEAR(worth("partial_barrier", begun, acme({{-2 * week, 103}, {-week, 105}, {0, 106}, {2, 110}})),
                (1 - touch(100, 106, 110, 2)) * 6 * usd(2), 1e-12);
    path two = acme({{0, 100}, {2, 110}});
    two.spots["BETA"] = {{0, 50}, {2, 40}};
    EXPECT_NEAR(worth("partial_barrier",
                      "underlying: ACME, watched: BETA, strike: 104, maturity: 2.0, barrier: 30", two),
                (1 - touch(30, 50, 40, 2)) * 6 * usd(2), 1e-12);
    EXPECT_EQ(refusal("partial_barrier",
                      "underlying: ACME, strike: 1, maturity: 1.0, barrier: 1, monitoring_end: 2.0"),
              refused + "monitoring_end comes after maturity");
    EXPECT_EQ(refusal("partial_barrier",
                      "underlying: ACME, strike: 1, maturity: 1.0, barrier: 1, monitoring_start: 2.0"),
              "the block begins at 2y, after its end at 1y");
}

TEST(single_asset_scripts, barrier_digital) {
    const path p = acme({{0, 100}, {1, 120}, {2, 110}});
    for (const bool up : {false, true}) {
        const double level = up ? 130 : 90;
        const double untouched = (1 - touch(level, 100, 120, 1)) * (1 - touch(level, 120, 110, 1));
        for (const bool out : {true, false}) {
            const std::string terms =
                std::string("underlying: ACME, payout: 2, maturity: 2.0, ") +
                (up ? "direction: up, barrier: 130, " : "direction: down, barrier: 90, ") +
                (out ? "kind: knock_out, " : "kind: knock_in, ");
            const double alive = out ? untouched : 1 - untouched;
            EXPECT_NEAR(worth("barrier_digital", terms + "strike: 110", p), alive * 2 * usd(2), 1e-13)
                << terms;
            EXPECT_NEAR(worth("barrier_digital", terms + "strike: 110, pays: asset", p), alive * 220 * usd(2),
                        1e-11)
                << terms;
            EXPECT_EQ(worth("barrier_digital", terms + "strike: 111", p), 0) << terms;
            EXPECT_NEAR(worth("barrier_digital", terms + "strike: 111, option: put", p), alive * 2 * usd(2),
                        1e-13)
                << terms;
            EXPECT_EQ(worth("barrier_digital", terms + "strike: 110, option: put", p), 0) << terms;
        }
    }
}

TEST(single_asset_scripts, soft_barrier) {
    const path p = sampled(acme({{0, 100}, {2, 110}}));
    const double low = lowest(100, 110, 2, 0.5), high = highest(100, 110, 2, 0.5);
    ASSERT_LT(low, 97);
    ASSERT_GT(high, 113);
    const auto terms = [](double lower, double upper, const std::string& more) {
        return "underlying: ACME, strike: 104, maturity: 2.0, lower: " + std::to_string(lower) +
               ", upper: " + std::to_string(upper) + more;
    };
    const double k = (97 - low) / (97 - 50), m = (high - 113) / (200 - 113);
    EXPECT_NEAR(worth("soft_barrier", terms(50, 97, ""), p), (1 - k) * 6 * usd(2), 1e-12);
    EXPECT_NEAR(worth("soft_barrier", terms(50, 97, ", kind: knock_in"), p), k * 6 * usd(2), 1e-12);
    EXPECT_EQ(worth("soft_barrier", terms(98, 99, ""), p), 0) << "reached the far end";
    EXPECT_EQ(worth("soft_barrier", terms(97, 97, ""), p), 0) << "a range of one level";
    EXPECT_DOUBLE_EQ(worth("soft_barrier", terms(20, 30, ""), p), 6 * usd(2)) << "never came to it";
    EXPECT_EQ(worth("soft_barrier", terms(20, 30, ", option: put"), p), 0);
    EXPECT_NEAR(worth("soft_barrier", terms(113, 200, ", direction: up"), p), (1 - m) * 6 * usd(2), 1e-12);
    EXPECT_EQ(worth("soft_barrier", terms(111, 112, ", direction: up"), p), 0);
    EXPECT_DOUBLE_EQ(worth("soft_barrier", terms(300, 400, ", direction: up"), p), 6 * usd(2));
    EXPECT_EQ(refusal("soft_barrier", terms(3, 2, "")),
              refused + "the lower end of the range is above its upper end");
}

// The barriers are so far apart that an interval touches one of them at most.
TEST(single_asset_scripts, double_barrier) {
    const path p = sampled(acme({{0, 100}, {1, 120}, {2, 110}}));
    const double down1 = touch(80, 100, 120, 1), down2 = touch(80, 120, 110, 1);
    const double up1 = touch(200, 100, 120, 1), up2 = touch(200, 120, 110, 1);
    const double first = 1 - down1 - up1, untouched = first * (1 - down2 - up2);
    const std::string terms =
        "underlying: ACME, strike: 104, maturity: 2.0, lower: 80, upper: 200, rebate: 3";
    const double both = 1e-5;
    EXPECT_NEAR(worth("double_barrier", terms, p), (untouched * 6 + (1 - untouched) * 3) * usd(2), both);
    EXPECT_NEAR(worth("double_barrier", terms + ", kind: knock_in", p),
                (untouched * 3 + (1 - untouched) * 6) * usd(2), both);
    EXPECT_NEAR(worth("double_barrier", terms + ", option: put", p), (1 - untouched) * 3 * usd(2), both);
    const double at_hit =
        3 * (down1 * usd(touch_time(80, 100, 120, 0, 1)) + up1 * usd(touch_time(200, 100, 120, 0, 1))) +
        3 * first *
            (down2 * usd(touch_time(80, 120, 110, 1, 1)) + up2 * usd(touch_time(200, 120, 110, 1, 1)));
    EXPECT_NEAR(worth("double_barrier", terms + ", rebate_paid: at_hit", p), at_hit + untouched * 6 * usd(2),
                1e-12);

    const std::string seen = terms + ", monitoring: discrete, monitoring_dates: [0.5, 1.0]";
    struct example {
        double first, second, hit_at;
    };
    for (const example& e : {example{81, 199, 0}, example{80, 100, 0.5}, example{100, 200, 1}}) {
        const path q = acme({{0, 10}, {0.5, e.first}, {1, e.second}, {2, 110}});
        const bool hit = e.hit_at > 0;
        EXPECT_DOUBLE_EQ(worth("double_barrier", seen, q), (hit ? 3 : 6) * usd(2));
        EXPECT_DOUBLE_EQ(worth("double_barrier", seen + ", kind: knock_in", q), (hit ? 6 : 3) * usd(2));
        EXPECT_DOUBLE_EQ(worth("double_barrier", seen + ", rebate_paid: at_hit", q),
                         hit ? 3 * usd(e.hit_at) : 6 * usd(2));
    }
    EXPECT_EQ(refusal("double_barrier", "underlying: ACME, strike: 1, maturity: 2.0, lower: 80, upper: 80"),
              refused + "the lower level is not below the upper one");
    EXPECT_EQ(refusal("double_barrier", terms + ", monitoring: discrete"),
              refused + "discrete monitoring needs monitoring_dates");
    EXPECT_EQ(refusal("double_barrier", terms + ", monitoring_dates: [1.0]"),
              refused + "monitoring_dates are for discrete monitoring; write monitoring: discrete");
    EXPECT_EQ(refusal("double_barrier", terms + ", monitoring: discrete, monitoring_dates: [3.0]"),
              refused + "the last of the monitoring_dates comes after maturity");
}

TEST(single_asset_scripts, one_touch) {
    const path p = sampled(acme({{0, 100}, {1, 120}, {2, 110}}));
    for (const bool up : {false, true}) {
        const double level = up ? 130 : 90;
        const double first = touch(level, 100, 120, 1), second = touch(level, 120, 110, 1);
        const double untouched = (1 - first) * (1 - second);
        const std::string terms = std::string("underlying: ACME, payout: 2, maturity: 2.0, ") +
                                  (up ? "direction: up, barrier: 130" : "direction: down, barrier: 90");
        EXPECT_NEAR(worth("one_touch", terms, p), (1 - untouched) * 2 * usd(2), 1e-13);
        EXPECT_NEAR(worth("one_touch", terms + ", pays: asset", p), (1 - untouched) * 220 * usd(2), 1e-11);
        EXPECT_NEAR(worth("one_touch", terms + ", kind: no_touch", p), untouched * 2 * usd(2), 1e-13);
        EXPECT_NEAR(worth("one_touch", terms + ", kind: no_touch, pays: asset", p), untouched * 220 * usd(2),
                    1e-11);
        const double at_hit = first * usd(touch_time(level, 100, 120, 0, 1)) +
                              (1 - first) * second * usd(touch_time(level, 120, 110, 1, 1));
        EXPECT_NEAR(worth("one_touch", terms + ", paid: at_hit", p), 2 * at_hit, 1e-12);
        EXPECT_NEAR(worth("one_touch", terms + ", paid: at_hit, pays: asset", p), 2 * level * at_hit, 1e-10);
        EXPECT_EQ(refusal("one_touch", terms + ", kind: no_touch, paid: at_hit"),
                  refused + "a no_touch pays at expiry; expected paid: at_expiry");
    }
    EXPECT_DOUBLE_EQ(
        worth("one_touch",
              "underlying: ACME, payout: 2, maturity: 2.0, direction: up, barrier: 90, paid: at_hit", p),
        2)
        << "beyond the barrier from the start";
}

TEST(single_asset_scripts, one_touch_hands_over_an_asset_that_begins_beyond_the_barrier) {
    const path p = sampled(acme({{0, 100}, {2, 110}}));
    const std::string terms = "underlying: ACME, maturity: 2.0, pays: asset, paid: at_hit, ";
    EXPECT_DOUBLE_EQ(worth("one_touch", terms + "direction: down, barrier: 120", p), 100);
    EXPECT_DOUBLE_EQ(worth("one_touch", terms + "direction: up, barrier: 90", p), 100);
    EXPECT_DOUBLE_EQ(worth("one_touch", terms + "direction: up, barrier: 100", p), 100);
    EXPECT_DOUBLE_EQ(worth("one_touch", terms + "direction: up, barrier: 90, payout: 3", p), 300);
    EXPECT_DOUBLE_EQ(worth("one_touch", terms + "direction: up, barrier: 90, monitoring_start: 1.0",
                           sampled(acme({{0, 100}, {1, 120}, {2, 110}}))),
                     120 * usd(1))
        << "as it is when the watching begins";
    // Monitoring began on a past day that has no fixing.
    const path later = sampled(acme({{-10 / 365.0, 95}, {0, 100}, {2, 110}}));
    EXPECT_EQ(worth("one_touch", terms + "direction: up, barrier: 90, monitoring_start: 2025-12-01", later),
              0)
        << "it was handed over before today";
}

TEST(single_asset_scripts, double_touch) {
    const path p = sampled(acme({{0, 100}, {1, 120}, {2, 110}}));
    const double down1 = touch(80, 100, 120, 1), down2 = touch(80, 120, 110, 1);
    const double up1 = touch(200, 100, 120, 1), up2 = touch(200, 120, 110, 1);
    const double first = 1 - down1 - up1, untouched = first * (1 - down2 - up2);
    const std::string terms = "underlying: ACME, payout: 2, maturity: 2.0, lower: 80, upper: 200";
    EXPECT_NEAR(worth("double_touch", terms, p), (1 - untouched) * 2 * usd(2), 1e-5);
    EXPECT_NEAR(worth("double_touch", terms + ", kind: no_touch", p), untouched * 2 * usd(2), 1e-5);
    const double low = down1 + first * down2, high = up1 + first * up2;
    EXPECT_NEAR(worth("double_touch", terms + ", kind: lower_first", p), low * 2 * usd(2), 1e-12);
    EXPECT_NEAR(worth("double_touch", terms + ", kind: upper_first", p), high * 2 * usd(2), 1e-12);
    const double low_paid =
        down1 * usd(touch_time(80, 100, 120, 0, 1)) + first * down2 * usd(touch_time(80, 120, 110, 1, 1));
    const double high_paid =
        up1 * usd(touch_time(200, 100, 120, 0, 1)) + first * up2 * usd(touch_time(200, 120, 110, 1, 1));
    EXPECT_NEAR(worth("double_touch", terms + ", paid: at_hit, kind: lower_first", p), 2 * low_paid, 1e-12);
    EXPECT_NEAR(worth("double_touch", terms + ", paid: at_hit, kind: upper_first", p), 2 * high_paid, 1e-12);
    EXPECT_NEAR(worth("double_touch", terms + ", paid: at_hit", p), 2 * (low_paid + high_paid), 1e-12);
    EXPECT_EQ(refusal("double_touch", terms + ", kind: no_touch, paid: at_hit"),
              refused + "a no_touch pays at expiry; expected paid: at_expiry");
    EXPECT_EQ(refusal("double_touch", "underlying: ACME, maturity: 2.0, lower: 90, upper: 80"),
              refused + "the lower level is not below the upper one");
}

TEST(single_asset_scripts, lookback_on_dates) {
    const path p = acme({{0.5, 64}, {1, 128}, {2, 120}});
    const std::string terms =
        "underlying: ACME, maturity: 2.0, monitoring: discrete, monitoring_dates: [0.5, 1.0, 2.0], ";
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: call", p), 56 * usd(2));
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: put", p), 8 * usd(2));
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: call, strike_factor: 1.5", p), 24 * usd(2));
    EXPECT_EQ(worth("lookback", terms + "option: call, strike_factor: 2", p), 0);
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: put, strike_factor: 2", p), 136 * usd(2));
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: call, strike: 100", p), 28 * usd(2));
    EXPECT_EQ(worth("lookback", terms + "option: call, strike: 130", p), 0);
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: put, strike: 100", p), 36 * usd(2));
    EXPECT_EQ(worth("lookback", terms + "option: put, strike: 60", p), 0);
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: call, extreme_so_far: 60", p), 60 * usd(2));
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: call, extreme_so_far: 70", p), 56 * usd(2));
    EXPECT_DOUBLE_EQ(worth("lookback", terms + "option: put, extreme_so_far: 140", p), 20 * usd(2));
    EXPECT_EQ(refusal("lookback", terms + "strike: 1, strike_factor: 2"),
              refused + "a strike_factor is for a floating strike; leave out strike, or strike_factor");
    EXPECT_EQ(refusal("lookback", "underlying: ACME, maturity: 1.0, monitoring: discrete"),
              refused + "discrete monitoring needs monitoring_dates");
    EXPECT_EQ(refusal("lookback", "underlying: ACME, maturity: 1.0, monitoring_dates: [1.0]"),
              refused + "monitoring_dates are for discrete monitoring; write monitoring: discrete");
    EXPECT_EQ(
        refusal("lookback", "underlying: ACME, maturity: 1.0, monitoring: discrete, monitoring_dates: [2.0]"),
        refused + "the last of the monitoring_dates comes after maturity");
    EXPECT_EQ(refusal("lookback", "underlying: ACME, maturity: 1.0, monitoring_end: 2.0"),
              refused + "monitoring_end comes after maturity");
    EXPECT_EQ(
        refusal("lookback", "underlying: ACME, maturity: 1.0, monitoring_start: 0.75, monitoring_end: 0.5"),
        "the block begins at 0.75y, after its end at 0.5y");
}

TEST(single_asset_scripts, lookback_all_the_time) {
    const path p = sampled(acme({{0, 100}, {1, 120}, {2, 110}}));
    const double low = std::min(lowest(100, 120, 1, 0.5), lowest(120, 110, 1, 0.5));
    const double high = std::max(highest(100, 120, 1, 0.5), highest(120, 110, 1, 0.5));
    const std::string terms = "underlying: ACME, maturity: 2.0, ";
    EXPECT_NEAR(worth("lookback", terms + "option: call", p), (110 - low) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: put", p), (high - 110) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: call, strike: 105", p), (high - 105) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: put, strike: 105", p), (105 - low) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: put, strike: 105, monitoring_end: 1.0", p),
                (105 - lowest(100, 120, 1, 0.5)) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: call, strike: 105, monitoring_start: 1.0", p),
                (highest(120, 110, 1, 0.5) - 105) * usd(2), 1e-12);
    EXPECT_NEAR(worth("lookback", terms + "option: call, monitoring_start: 2025-12-01",
                      sampled(acme({{-7 / 365.0, 20}, {0, 100}, {2, 110}}))),
                90 * usd(2), 1e-12)
        << "a fixing was the lowest";
}

TEST(single_asset_scripts, forward_start) {
    const path up = acme({{0.5, 80}, {2, 100}}), down = acme({{0.5, 80}, {2, 60}});
    const std::string terms =
        "underlying: ACME, strike_date: 0.5, strike_factor: 1.125, maturity: 2.0, notional: 16";
    EXPECT_DOUBLE_EQ(worth("forward_start", terms, up), 10 * usd(2));
    EXPECT_EQ(worth("forward_start", terms, down), 0);
    EXPECT_EQ(worth("forward_start", terms + ", option: put", up), 0);
    EXPECT_DOUBLE_EQ(worth("forward_start", terms + ", option: put", down), 30 * usd(2));
    EXPECT_DOUBLE_EQ(worth("forward_start", terms + ", pays: performance", up), 2 * usd(2));
    EXPECT_DOUBLE_EQ(worth("forward_start", terms + ", pays: performance, option: put", down), 6 * usd(2));
    EXPECT_DOUBLE_EQ(worth("forward_start", "underlying: ACME, strike_date: 2025-12-31, maturity: 2.0",
                           acme({{-15 / 365.0, 96}, {2, 100}})),
                     4 * usd(2))
        << "the strike was set before today";
    EXPECT_EQ(refusal("forward_start", "underlying: ACME, strike_date: 2.0, maturity: 1.0"),
              refused + "the strike_date comes after maturity");
}

TEST(single_asset_scripts, cliquet) {
    // Returns of 25, -50 and 100 percent.
    const path p = acme({{0, 80}, {0.5, 100}, {1, 50}, {2, 100}});
    const std::string terms = "underlying: ACME, fixings: [0.0, 0.5, 1.0, 2.0], notional: 8";
    EXPECT_DOUBLE_EQ(worth("cliquet", terms, p), 8 * 0.75 * usd(2));
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", local_floor: -0.125", p), 8 * 1.125 * usd(2));
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", local_cap: 0.125", p), 8 * -0.25 * usd(2));
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", local_floor: 0.5, local_cap: 0.5", p), 8 * 1.5 * usd(2))
        << "the first fixing is no return";
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", local_cap: 0.125, global_floor: 0", p), 0);
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", global_cap: 0.5", p), 4 * usd(2));
    EXPECT_DOUBLE_EQ(worth("cliquet", terms + ", global_floor: 0.5, global_cap: 1", p), 6 * usd(2));
    EXPECT_EQ(refusal("cliquet", "underlying: ACME, fixings: [1.0]"),
              refused + "a cliquet needs at least two fixings: the first and the last");
    EXPECT_EQ(refusal("cliquet", terms + ", local_floor: 0.5, local_cap: 0.25"),
              refused + "the local_floor is above the local_cap");
    EXPECT_EQ(refusal("cliquet", terms + ", global_floor: 0.5, global_cap: 0.25"),
              refused + "the global_floor is above the global_cap");
}

// On these paths a forward price is the spot times exp(0.05) a year.
TEST(single_asset_scripts, chooser) {
    const std::string terms = "underlying: ACME, strike: 100, choice_date: 1.0, maturity: 2.0";
    EXPECT_DOUBLE_EQ(worth("chooser", terms, acme({{1, 96}, {2, 120}})), 20 * usd(2))
        << "the call: the forward price is 100.9";
    EXPECT_EQ(worth("chooser", terms, acme({{1, 96}, {2, 90}})), 0);
    EXPECT_DOUBLE_EQ(worth("chooser", terms, acme({{1, 95}, {2, 90}})), 10 * usd(2))
        << "the put: the forward price is 99.9";
    EXPECT_EQ(worth("chooser", terms, acme({{1, 95}, {2, 120}})), 0);
    EXPECT_EQ(refusal("chooser", "underlying: ACME, strike: 100, choice_date: 2.0, maturity: 1.0"),
              refused + "the choice_date comes after maturity");
}

// On these paths an option is worth its intrinsic value at the forward price.
double later(double spot) {
    return spot * std::exp(0.05);
}

TEST(single_asset_scripts, complex_chooser) {
    const std::string terms = "underlying: ACME, choice_date: 1.0, call_strike: 104, call_maturity: 2.0";
    EXPECT_DOUBLE_EQ(worth("complex_chooser", terms, acme({{1, 120}})), (later(120) - 104) * usd(2));
    EXPECT_DOUBLE_EQ(worth("complex_chooser", terms, acme({{1, 90}})), (104 - later(90)) * usd(2))
        << "the put has the terms of the call";
    EXPECT_NEAR(worth("complex_chooser", terms + ", put_strike: 110, put_maturity: 1.0", acme({{1, 90}})),
                20 * usd(1), 1e-12);
    const std::string message = refused + "the choice_date comes after a maturity";
    EXPECT_EQ(
        refusal("complex_chooser", "underlying: ACME, choice_date: 1.0, call_strike: 1, call_maturity: 0.5"),
        message);
    EXPECT_EQ(refusal("complex_chooser", terms + ", put_maturity: 0.5"), message);
}

TEST(single_asset_scripts, compound) {
    const std::string terms =
        "underlying: ACME, maturity: 1.0, underlying_strike: 100, underlying_maturity: 2.0, ";
    const double held = (later(120) - 100) * std::exp(-0.03);
    EXPECT_NEAR(worth("compound", terms + "strike: 5", acme({{1, 120}})), (held - 5) * usd(1), 1e-12);
    EXPECT_EQ(worth("compound", terms + "strike: 50", acme({{1, 120}})), 0);
    EXPECT_NEAR(worth("compound", terms + "option: put, strike: 50", acme({{1, 120}})), (50 - held) * usd(1),
                1e-12);
    EXPECT_EQ(worth("compound", terms + "underlying_option: put, strike: 5", acme({{1, 120}})), 0);
    EXPECT_NEAR(worth("compound", terms + "underlying_option: put, strike: 5", acme({{1, 80}})),
                ((100 - later(80)) * std::exp(-0.03) - 5) * usd(1), 1e-12);
    EXPECT_EQ(refusal("compound",
                      "underlying: ACME, strike: 1, maturity: 1.0, underlying_strike: 100, "
                      "underlying_maturity: 0.5"),
              refused + "maturity comes after the underlying_maturity");
}

TEST(single_asset_scripts, extensible_option) {
    const std::string terms = "underlying: ACME, strike: 100, maturity: 1.0, extended_maturity: 2.0, ";
    const std::string call = terms + "extended_strike: 90, premium: 12", put = call + ", option: put";
    const auto held = [](double gain) { return gain * std::exp(-0.03); };
    EXPECT_NEAR(worth("extensible_option", call, acme({{1, 110}, {2, 1}})),
                std::max(10.0, held(later(110) - 90) - 12) * usd(1), 1e-12);
    EXPECT_NEAR(worth("extensible_option", call, acme({{1, 99}, {2, 1}})),
                (held(later(99) - 90) - 12) * usd(1), 1e-12)
        << "extended";
    EXPECT_EQ(worth("extensible_option", call, acme({{1, 95}, {2, 1}})), 0) << "given up";
    EXPECT_NEAR(worth("extensible_option", put, acme({{1, 60}, {2, 1}})), 40 * usd(1), 1e-12);
    EXPECT_NEAR(worth("extensible_option", terms + "extended_strike: 130, premium: 12, option: put",
                      acme({{1, 95}, {2, 1}})),
                (held(130 - later(95)) - 12) * usd(1), 1e-12);
    const std::string free = terms + "extended_by: writer, extended_strike: 90",
                      free_put = free + ", option: put";
    EXPECT_NEAR(worth("extensible_option", free, acme({{1, 110}, {2, 200}})), 10 * usd(1), 1e-12)
        << "exercised";
    EXPECT_NEAR(worth("extensible_option", free, acme({{1, 95}, {2, 96}})), 6 * usd(2), 1e-12) << "extended";
    EXPECT_EQ(worth("extensible_option", free, acme({{1, 95}, {2, 80}})), 0);
    EXPECT_NEAR(worth("extensible_option", free_put, acme({{1, 95}, {2, 1}})), 5 * usd(1), 1e-12);
    EXPECT_NEAR(worth("extensible_option", free_put, acme({{1, 105}, {2, 80}})), 10 * usd(2), 1e-12);
    EXPECT_NEAR(worth("extensible_option", terms + "extended_by: writer", acme({{1, 95}, {2, 108}})),
                8 * usd(2), 1e-12)
        << "the strike stays";
    EXPECT_EQ(
        refusal("extensible_option", "underlying: ACME, strike: 1, maturity: 1.0, extended_maturity: 0.5"),
        refused + "maturity comes after the extended_maturity");
    EXPECT_EQ(refusal("extensible_option", call + ", extended_by: writer"),
              refused + "a writer extends for free; leave out premium");
}

}  // namespace
}  // namespace tilewalk::single_asset_scripts_test
