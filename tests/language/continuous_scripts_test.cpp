// SPDX-License-Identifier: Apache-2.0
// Every branch of the scripts with continuous monitoring (time beyond a level, averages over a time), on
// hand-written paths with payoffs computed by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/verify/closed_forms.h"
#include "tests/played_trade.h"

namespace tilewalk::continuous_scripts_test {
namespace {

using tests::acme;
using tests::path;
using tests::refusal;
using tests::usd;
using tests::worth;

const std::string refused = "the terms of the trade are refused: ";
constexpr double variance_per_year = 0.04;

// The first touch, in years, of a bridge from log-distance a to log-distance b, for a normal and a uniform of
// 0.5. These select one root of the method of Michael, Schucany and Haas.
double first_touch(double a, double b, double years) {
    const double v = variance_per_year * years, nu = 0.25;
    if (b == 0) return years * a * a / (a * a + nu * v);
    const double mu = a / b, lambda = a * a / v;
    const double y = mu + mu * mu * nu / (2 * lambda) -
                     mu / (2 * lambda) * std::sqrt(4 * mu * lambda * nu + mu * mu * nu * nu);
    const double s = 0.5 <= mu / (mu + y) ? y : mu * mu / y;
    return years * s / (1 + s);
}

path sampled(path p, double uniform) {
    p.normals.assign(8, 0.5);
    p.uniforms.assign(8, 0.5);
    p.uniforms[0] = uniform;  // decides whether the level is touched
    return p;
}

// A path from 100 to 110 that is below 90 for some time, twice if `uniform` makes it touch 90 in between.
path dips(double uniform) {
    return sampled(acme({{0, 100}, {0.5, 80}, {1, 82}, {1.5, 95}, {2, 110}}), uniform);
}

std::string parisian(const std::string& more, double window, double strike = 104) {
    return fmt::format("underlying: ACME, strike: {}, maturity: 2.0, rebate: 3, window: {:.15g}, {}", strike,
                       window, more);
}

// The second interval is below 90 at both ends and touches it with probability 0.33. Without a touch, the
// stay below 90 lasts from the last touch of the first interval to the first touch of the third.
TEST(continuous_scripts, parisian_stay_without_a_break) {
    const double a = std::log(100 / 90.0), b = std::log(90 / 80.0), c = std::log(90 / 82.0),
                 d = std::log(95 / 90.0);
    const double begins = 0.5 - first_touch(b, a, 0.5), ends = 1 + first_touch(c, d, 0.5);
    const double stay = ends - begins;
    const std::string down = "direction: down, barrier: 90";
    for (const bool out : {true, false}) {
        const std::string terms = down + (out ? ", kind: knock_out" : ", kind: knock_in");
        EXPECT_NEAR(worth("parisian", parisian(terms, stay * (1 - 1e-9)), dips(0.9)), (out ? 3 : 6) * usd(2),
                    1e-12);
        EXPECT_NEAR(worth("parisian", parisian(terms, stay * (1 + 1e-9)), dips(0.9)), (out ? 6 : 3) * usd(2),
                    1e-12);
    }
    EXPECT_NEAR(worth("parisian", parisian(down + ", option: put", 2), dips(0.9)), 0, 1e-12);
    EXPECT_NEAR(worth("parisian", parisian(down + ", option: put", 2, 118), dips(0.9)), 8 * usd(2), 1e-12);
}

// A touch in the second interval breaks the stay below 90: it ends at the interval's first touch, and another
// stay begins at the last.
TEST(continuous_scripts, parisian_stay_with_a_break) {
    const double a = std::log(100 / 90.0), b = std::log(90 / 80.0), c = std::log(90 / 82.0),
                 d = std::log(95 / 90.0);
    const double begins = 0.5 - first_touch(b, a, 0.5), broken = 0.5 + first_touch(b, c, 0.5);
    const double again = 1 - first_touch(c, 0, 1 - broken), ends = 1 + first_touch(c, d, 0.5);
    const double longest = std::max(broken - begins, ends - again);
    ASSERT_LT(broken, again);
    const std::string down = "direction: down, barrier: 90";
    EXPECT_NEAR(worth("parisian", parisian(down, longest * (1 - 1e-9)), dips(0.1)), 3 * usd(2), 1e-12);
    EXPECT_NEAR(worth("parisian", parisian(down, longest * (1 + 1e-9)), dips(0.1)), 6 * usd(2), 1e-12);
}

TEST(continuous_scripts, parisian_above_the_barrier) {
    const path p = sampled(acme({{0, 90}, {1, 125}, {2, 128}}), 0.9);
    const double a = std::log(110 / 90.0), b = std::log(125 / 110.0);
    const double stay = 2 - (1 - first_touch(b, a, 1));
    const std::string up = "direction: up, barrier: 110";
    EXPECT_NEAR(worth("parisian", parisian(up, stay * (1 - 1e-9)), p), 3 * usd(2), 1e-12);
    EXPECT_NEAR(worth("parisian", parisian(up, stay * (1 + 1e-9)), p), 24 * usd(2), 1e-12);
}

TEST(continuous_scripts, parisian_that_has_begun) {
    const path p = sampled(acme({{0, 80}, {1, 82}, {2, 110}}), 0.9);
    const double ends = 1 + first_touch(std::log(90 / 82.0), std::log(110 / 90.0), 1);
    const std::string terms = "direction: down, barrier: 90, elapsed: 0.7";
    EXPECT_NEAR(worth("parisian", parisian(terms, (0.7 + ends) * (1 - 1e-9)), p), 3 * usd(2), 1e-12);
    EXPECT_NEAR(worth("parisian", parisian(terms, (0.7 + ends) * (1 + 1e-9)), p), 6 * usd(2), 1e-12);
    const path above = sampled(acme({{0, 100}, {2, 110}}), 0.999);
    EXPECT_NEAR(worth("parisian", parisian(terms, 0.71), above), 6 * usd(2), 1e-12);
    // Before today only fixings are known: a stay lasts from one fixing above the barrier to the next above.
    const double day = 1 / 365.0;
    const path fixed = sampled(
        acme({{-4 * day, 95}, {-3 * day, 85}, {-2 * day, 84}, {-day, 91}, {0, 100}, {2, 110}}), 0.999);
    const std::string since = "direction: down, barrier: 90, monitoring_start: 2026-01-11";
    EXPECT_NEAR(worth("parisian", parisian(since, 2.9 * day), fixed), 3 * usd(2), 1e-12);
    EXPECT_NEAR(worth("parisian", parisian(since, 3.1 * day), fixed), 6 * usd(2), 1e-12);
}

TEST(continuous_scripts, parisian_refusals) {
    EXPECT_EQ(refusal("parisian", parisian("direction: down, barrier: 90, longest_step: 0.2", 0.1)),
              refused + "longest_step is longer than the window");
    EXPECT_EQ(refusal("parisian", parisian("direction: down, barrier: 90, elapsed: 0.1", 0.1)),
              refused + "elapsed is not shorter than the window, so that the option has been decided");
    EXPECT_EQ(refusal("cumulative_parisian", parisian("direction: down, barrier: 90, elapsed: 0.1", 0.1)),
              refused + "elapsed is not shorter than the window, so that the option has been decided");
}

double time_below(double from, double to, double level, double years) {
    return years * truth::integrate(
                       [&](double angle) {
                           const double part = std::sin(angle) * std::sin(angle);
                           const double mean = std::log(from) + part * std::log(to / from);
                           const double sd = std::sqrt(part * (1 - part) * variance_per_year * years);
                           return std::sin(2 * angle) * truth::normal_cdf((std::log(level) - mean) / sd);
                       },
                       0, 1.5707963267948966, 8);
}

double variance_of_time_below(double from, double to, double level, double years) {
    const double v = variance_per_year * years;
    const double square = truth::integrate(
        [&](double angle) {
            const double part = std::sin(angle) * std::sin(angle);
            const double mean = std::log(from) + part * std::log(to / from);
            const double sd = std::sqrt(part * (1 - part) * v);
            const double high = std::min((std::log(level) - mean) / sd, 8.0);
            if (high < -8) return 0.0;
            return std::sin(2 * angle) *
                   truth::integrate(
                       [&](double z) {
                           return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) *
                                  time_below(std::exp(mean + sd * z), to, level, (1 - part) * years);
                       },
                       -8, high, 6);
        },
        0, 1.5707963267948966, 6);
    const double mean = time_below(from, to, level, years);
    return 2 * years * square - mean * mean;
}

// A path in four steps of half a year, and its mean time below 90.
const std::string in_halves = ", longest_step: 0.5";
path four_steps() {
    return acme({{0, 100}, {0.5, 80}, {1, 82}, {1.5, 95}, {2, 110}});
}
double below_ninety() {
    return time_below(100, 80, 90, 0.5) + time_below(80, 82, 90, 0.5) + time_below(82, 95, 90, 0.5) +
           time_below(95, 110, 90, 0.5);
}

// The time below the level as a path draws it, of the time before the first touch, half of the time between
// first and last touch, and the time after.
double drawn_below(double from, double to, double level, double years, double uniform) {
    const double a = std::abs(std::log(from / level)), b = std::abs(std::log(to / level));
    const bool crosses = (from < level) != (to < level);
    if (!crosses && uniform >= std::exp(-2 * a * b / (variance_per_year * years)))
        return from < level ? years : 0;
    const double first = first_touch(a, b, years), back = first_touch(b, 0, years - first);
    return (from < level ? first : 0) + 0.5 * (years - back - first) + (to < level ? back : 0);
}

TEST(continuous_scripts, cumulative_parisian) {
    for (const double uniform : {0.1, 0.9}) {
        const double below = drawn_below(100, 80, 90, 0.5, uniform) + drawn_below(80, 82, 90, 0.5, uniform) +
                             drawn_below(82, 95, 90, 0.5, uniform) + drawn_below(95, 110, 90, 0.5, uniform);
        for (const bool down : {true, false}) {
            const double beyond = down ? below : 2 - below;
            for (const bool out : {true, false}) {
                const std::string terms = fmt::format("direction: {}, kind: {}, barrier: 90",
                                                      down ? "down" : "up", out ? "knock_out" : "knock_in");
                EXPECT_NEAR(worth("cumulative_parisian", parisian(terms, beyond - 1e-9), dips(uniform)),
                            (out ? 3 : 6) * usd(2), 1e-12)
                    << terms;
                EXPECT_NEAR(worth("cumulative_parisian", parisian(terms, beyond + 1e-9), dips(uniform)),
                            (out ? 6 : 3) * usd(2), 1e-12)
                    << terms;
                EXPECT_NEAR(worth("cumulative_parisian",
                                  parisian(terms + ", elapsed: 0.4", beyond + 0.4 - 1e-9), dips(uniform)),
                            (out ? 3 : 6) * usd(2), 1e-12)
                    << terms;
            }
        }
    }
    const double day = 1 / 365.0;
    const path fixed =
        sampled(acme({{-4 * day, 85}, {-3 * day, 85}, {-2 * day, 95}, {-day, 84}, {0, 200}, {2, 210}}), 0.9);
    const std::string since = "direction: down, barrier: 90, option: put, monitoring_start: 2026-01-11";
    EXPECT_NEAR(worth("cumulative_parisian", parisian(since, 1.9 * day), fixed), 3 * usd(2), 1e-12);
    EXPECT_NEAR(worth("cumulative_parisian", parisian(since, 2.1 * day), fixed), 0, 1e-12);
}

TEST(continuous_scripts, step_option) {
    double variance = 0;
    for (const auto& [from, to] : {std::pair{100, 80}, {80, 82}, {82, 95}, {95, 110}})
        variance += variance_of_time_below(from, to, 90, 0.5);
    EXPECT_GT(variance, 0.005);
    for (const bool down : {true, false}) {
        const double time = down ? below_ninety() : 2 - below_ninety();
        const std::string terms =
            fmt::format("underlying: ACME, maturity: 2.0, elapsed: 0.1, barrier: 90, direction: {}{}, ",
                        down ? "down" : "up", in_halves);
        const auto left = [&](double rate) {
            return std::exp(-rate * 0.1 - rate * time / (1 + rate * variance / (2 * time)));
        };
        EXPECT_NEAR(worth("step_option", terms + "strike: 104, knock_out_rate: 0.4", four_steps()),
                    6 * left(0.4) * usd(2), 1e-6);
        EXPECT_NEAR(worth("step_option", terms + "strike: 104, knock_out_rate: 9", four_steps()),
                    6 * left(9) * usd(2), 1e-5);
        EXPECT_NEAR(
            worth("step_option", terms + "strike: 112, option: put, knock_out_rate: 0.4", four_steps()),
            2 * left(0.4) * usd(2), 1e-6);
        EXPECT_NEAR(
            worth("step_option", terms + "strike: 104, knock_out_rate: 0.4, form: linear", four_steps()),
            6 * (1 - 0.4 * (0.1 + time)) * usd(2), 1e-9);
        // At the rate for which the mean payoff is 0, sqrt(1 / (2 pi)) = 0.4 deviations of the time remain.
        EXPECT_NEAR(
            worth("step_option",
                  terms + fmt::format("strike: 104, knock_out_rate: {:.17g}, form: linear", 1 / (0.1 + time)),
                  four_steps()),
            6 * std::sqrt(variance / (2 * std::numbers::pi)) / (0.1 + time) * usd(2), 1e-5);
        EXPECT_NEAR(
            worth("step_option", terms + "strike: 104, knock_out_rate: 9, form: linear", four_steps()), 0,
            1e-8);
    }
}

TEST(continuous_scripts, corridor_accrual) {
    const path p = acme({{0, 100}, {0.5, 80}, {2, 110}});
    const double below = time_below(80, 110, 90, 1.5), above = 1.5 - time_below(80, 110, 105, 1.5);
    const std::string terms =
        "underlying: ACME, lower: 90, upper: 105, accrual_start: 0.5, maturity: 2.0, coupon: 0.08, notional: "
        "200";
    EXPECT_NEAR(worth("corridor_accrual", terms, p), 16 * (1 - (below + above) / 1.5) * usd(2), 1e-8);
    EXPECT_NEAR(worth("corridor_accrual", terms + ", redeems: true", p),
                (200 + 16 * (1 - (below + above) / 1.5)) * usd(2), 1e-8);
    const double all = time_below(100, 80, 105, 0.5) + time_below(80, 110, 105, 1.5);
    EXPECT_NEAR(worth("corridor_accrual", "underlying: ACME, upper: 105, maturity: 2.0, coupon: 0.08", p),
                8 * all / 2 * usd(2), 1e-8)
        << "no lower end";
    EXPECT_EQ(
        refusal("corridor_accrual", "underlying: ACME, lower: 2, upper: 2, maturity: 2.0, coupon: 0.08"),
        refused + "the lower end of the range must be below its upper end");
    EXPECT_EQ(refusal("corridor_accrual",
                      "underlying: ACME, accrual_start: 2.0, upper: 2, maturity: 2.0, coupon: 0.08"),
              refused + "accrual_start does not come before maturity");
}

double mean_price(double from, double to, double years) {
    return truth::integrate(
        [&](double part) {
            return from * std::pow(to / from, part) *
                   std::exp(0.5 * part * (1 - part) * variance_per_year * years);
        },
        0, 1, 4);
}

double variance_of_mean_price(double from, double to, double years) {
    const double v = variance_per_year * years;
    const auto price = [&](double part) {
        return from * std::pow(to / from, part) * std::exp(0.5 * part * (1 - part) * v);
    };
    return 2 * truth::integrate(
                   [&](double late) {
                       return price(late) * truth::integrate(
                                                [&](double early) {
                                                    return price(early) * std::expm1(early * (1 - late) * v);
                                                },
                                                0, late, 2);
                   },
                   0, 1, 4);
}

TEST(continuous_scripts, continuous_asian) {
    const path p = four_steps();
    const double late = (mean_price(80, 82, 0.5) + mean_price(82, 95, 0.5) + mean_price(95, 110, 0.5)) / 3;
    const double all = (mean_price(100, 80, 0.5) + 3 * late) / 4;
    const std::string terms = "underlying: ACME, maturity: 2.0" + in_halves;
    EXPECT_NEAR(worth("continuous_asian", terms + ", strike: 70", p), (all - 70) * usd(2), 1e-9);
    EXPECT_NEAR(worth("continuous_asian", terms + ", strike: 70, option: put", p), 0, 1e-12);
    EXPECT_NEAR(worth("continuous_asian", terms + ", strike: 170, option: put", p), (170 - all) * usd(2),
                1e-9);
    EXPECT_NEAR(worth("continuous_asian", terms, p), (110 - all) * usd(2), 1e-9);
    EXPECT_NEAR(worth("continuous_asian", terms + ", averaging_start: 0.5", p), (110 - late) * usd(2), 1e-9);
    EXPECT_NEAR(worth("continuous_asian", terms + ", strike: 70, elapsed: 3, average_so_far: 85", p),
                ((2 * all + 3 * 85) / 5 - 70) * usd(2), 1e-9);
    // With the strike at the mean, the value is 0.4 deviations of an average that is nearly normal.
    double squares = 0;
    for (const auto& [from, to] : {std::pair{100, 80}, {80, 82}, {82, 95}, {95, 110}})
        squares += variance_of_mean_price(from, to, 0.5) / 16;
    for (const std::string option : {"call", "put"}) {
        EXPECT_NEAR(
            worth("continuous_asian", terms + fmt::format(", strike: {:.17g}, option: {}", all, option), p),
            std::sqrt(squares / (2 * std::numbers::pi)) * usd(2), 1e-3)
            << option;
    }
    EXPECT_GT(squares, 1);
    // Given its ends, a step's mean logarithm has 1/12 of the step's variance; each of four steps weighs 1/4.
    const double logs = std::log(100 * 80.0 * 80 * 82.0 * 82 * 95.0 * 95 * 110) / 8;
    const double variance = variance_per_year * 0.5 / 12 / 4;
    EXPECT_NEAR(worth("continuous_asian", terms + ", mean: geometric, strike: 70", p),
                (std::exp(logs + variance / 2) - 70) * usd(2), 1e-11);
    EXPECT_NEAR(worth("continuous_asian", terms + ", mean: geometric, strike: 90", p),
                truth::black(truth::side::call, std::exp(logs + variance / 2), 90, variance, usd(2)), 1e-11);
    EXPECT_NEAR(worth("continuous_asian", terms + ", mean: geometric, strike: 90, option: put", p),
                truth::black(truth::side::put, std::exp(logs + variance / 2), 90, variance, usd(2)), 1e-11);
    const double part = 0.4 * 0.4 * variance;
    EXPECT_NEAR(
        worth("continuous_asian", terms + ", mean: geometric, strike: 70, elapsed: 3, average_so_far: 85", p),
        (std::exp((2 * logs + 3 * std::log(85.0)) / 5 + part / 2) - 70) * usd(2), 1e-11);
    const double of_three = variance_per_year * 0.5 / 12 / 3;
    EXPECT_NEAR(worth("continuous_asian", terms + ", mean: geometric, averaging_start: 0.5", p),
                (110 - std::pow(80 * 82.0 * 82 * 95.0 * 95 * 110, 1.0 / 6) * std::exp(of_three / 2)) * usd(2),
                1e-11);
    const double day = 1 / 365.0;
    const path begun = acme({{-2 * day, 90}, {-day, 91}, {0, 100}, {2, 110}});
    EXPECT_NEAR(
        worth("continuous_asian",
              "underlying: ACME, maturity: 2.0, longest_step: 2, strike: 40, averaging_start: 2026-01-13",
              begun),
        ((day * 91 + day * 100 + 2 * mean_price(100, 110, 2)) / (2 + 2 * day) - 40) * usd(2), 1e-9);
    EXPECT_EQ(refusal("continuous_asian", terms + ", averaging_start: 2.0"),
              refused + "averaging_start does not come before maturity");
    EXPECT_EQ(
        refusal("continuous_asian", terms + ", average_so_far: 80"),
        refused + "average_so_far is given, but not how many years it is the average of; expected elapsed");
    EXPECT_EQ(refusal("continuous_asian", terms + ", elapsed: 1"),
              refused + "elapsed is given, but not the average over it; expected average_so_far");
}

}  // namespace
}  // namespace tilewalk::continuous_scripts_test
