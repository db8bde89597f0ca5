// SPDX-License-Identifier: Apache-2.0
// Every branch of every library script, on hand-written paths with payoffs computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/played_trade.h"

namespace tilewalk::scripts_test {
namespace {

using tests::acme;
using tests::library_folder;
using tests::library_product;
using tests::path;
using tests::refusal;
using tests::usd;
using tests::worth;

TEST(scripts, every_file_of_the_library_reads_and_says_what_it_is) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(library_folder())) {
        if (entry.path().extension() != ".yaml") continue;
        ++files;
        const auto p = library_product(entry.path().stem().string());
        EXPECT_EQ(p->name, entry.path().stem().string());
        EXPECT_FALSE(p->summary.empty() || p->description.empty() || p->formula.empty() || p->example.empty())
            << p->name;
        for (const auto& q : p->parameters) EXPECT_GE(q.help.size(), 10U) << p->name << " " << q.name;
    }
    EXPECT_GE(files, 6U);
}

TEST(scripts, european) {
    const std::string terms = "underlying: ACME, strike: 100, maturity: 2.0";
    EXPECT_DOUBLE_EQ(worth("european", terms, acme({{2, 112}})), 12 * usd(2));
    EXPECT_EQ(worth("european", terms, acme({{2, 88}})), 0);
    EXPECT_DOUBLE_EQ(worth("european", terms + ", option: put", acme({{2, 88}})), 12 * usd(2));
    EXPECT_EQ(worth("european", terms + ", option: put", acme({{2, 112}})), 0);
    EXPECT_EQ(worth("european", "underlying: ACME, strike: 100, maturity: 2026-01-15", acme({{0, 103}})), 3)
        << "today it pays today's spot";
    EXPECT_EQ(
        worth("european", "underlying: ACME, strike: 100, maturity: 2026-01-05", acme({{-10 / 365.0, 103}})),
        0)
        << "what was paid before today is gone";
}

TEST(scripts, digital) {
    const std::string call = "underlying: ACME, strike: 100, payout: 7, maturity: 2.0",
                      put = call + ", option: put";
    struct example {
        double final_spot, of_call, of_put;
    };
    for (const example& e : {example{112, 7, 0}, example{100, 7, 0}, example{99.5, 0, 7}}) {
        EXPECT_DOUBLE_EQ(worth("digital", call, acme({{2, e.final_spot}})), e.of_call * usd(2))
            << e.final_spot;
        EXPECT_DOUBLE_EQ(worth("digital", put, acme({{2, e.final_spot}})), e.of_put * usd(2)) << e.final_spot;
    }
}

TEST(scripts, asian) {
    const std::string terms = "underlying: ACME, strike: 100, averaging_dates: [0.5, 1.0, 1.5, 2.0]";
    const path up = acme({{0.5, 64}, {1, 128}, {1.5, 112}, {2, 120}});  // an average of 106
    EXPECT_DOUBLE_EQ(worth("asian", terms, up), 6 * usd(2));
    EXPECT_EQ(worth("asian", terms + ", option: put", up), 0);
    const path down = acme({{0.5, 64}, {1, 128}, {1.5, 112}, {2, 56}});  // an average of 90
    EXPECT_EQ(worth("asian", terms, down), 0);
    EXPECT_DOUBLE_EQ(worth("asian", terms + ", option: put", down), 10 * usd(2));
    // Two of the three dates are no longer ahead, one of them today.
    EXPECT_DOUBLE_EQ(
        worth("asian", "underlying: ACME, strike: 100, averaging_dates: [2025-12-31, 2026-01-15, 2027-01-15]",
              acme({{-15 / 365.0, 96}, {0, 108}, {1, 111}})),
        5 * usd(1));
    EXPECT_EQ(worth("asian", "underlying: ACME, strike: 100, averaging_dates: [2025-12-31, 2026-01-15]",
                    acme({{-15 / 365.0, 96}, {0, 108}})),
              2)
        << "the last date is today";
}

// The probability of a touch under continuous monitoring, on a path with variance 0.04 a year.
double touch_chance(double level, double from, double to, double years) {
    const double a = std::log(from) - std::log(level), b = std::log(to) - std::log(level);
    return std::exp(-2 * std::max(std::abs(a), 0.0) * std::abs(b) / (0.04 * years));
}

TEST(scripts, continuous_barrier) {
    const path p = acme({{0, 100}, {1, 120}, {2, 110}});
    for (const bool up : {false, true}) {
        const double level = up ? 130 : 90;
        const double untouched =
            (1 - touch_chance(level, 100, 120, 1)) * (1 - touch_chance(level, 120, 110, 1));
        for (const bool call : {true, false}) {
            const double vanilla = call ? 5 : 0;
            for (const bool out : {true, false}) {
                const std::string terms =
                    std::string("underlying: ACME, strike: 105, maturity: 2.0, rebate: 3, barrier: ") +
                    (up ? "130, direction: up" : "90, direction: down") +
                    (call ? ", option: call" : ", option: put") +
                    (out ? ", kind: knock_out" : ", kind: knock_in");
                const double alive = out ? untouched : 1 - untouched;
                EXPECT_NEAR(worth("barrier", terms, p), (alive * vanilla + (1 - alive) * 3) * usd(2), 1e-13)
                    << terms;
            }
        }
    }
    const std::string put =
        "underlying: ACME, option: put, strike: 115, maturity: 2.0, direction: down, barrier: 90";
    EXPECT_NEAR(worth("barrier", put, p),
                (1 - touch_chance(90, 100, 120, 1)) * (1 - touch_chance(90, 120, 110, 1)) * 5 * usd(2), 1e-13)
        << "a put in the money, without rebate";
}

TEST(scripts, continuous_barrier_beyond_at_an_end_is_surely_touched) {
    const path p = acme({{0, 100}, {1, 120}, {2, 110}});
    const std::string terms =
        "underlying: ACME, strike: 105, maturity: 2.0, rebate: 3, direction: up, barrier: 120";
    EXPECT_DOUBLE_EQ(worth("barrier", terms, p), 3 * usd(2));
    EXPECT_DOUBLE_EQ(worth("barrier", terms + ", kind: knock_in", p), 5 * usd(2));
}

TEST(scripts, continuous_barrier_pays_its_rebate_when_it_is_hit) {
    path p = acme({{0, 100}, {1, 120}, {2, 110}});
    p.normals = {0.5};
    p.uniforms = {0.5};
    const auto hit_time = [&](double level, double start, double from, double to) {
        const double a = std::abs(std::log(from / level)), b = std::abs(std::log(to / level));
        const double mu = a / b, lambda = a * a / 0.04, nu = 0.25;
        const double y = mu + mu * mu * nu / (2 * lambda) -
                         mu / (2 * lambda) * std::sqrt(4 * mu * lambda * nu + mu * mu * nu * nu);
        const double s = 0.5 <= mu / (mu + y) ? y : mu * mu / y;
        return start + s / (1 + s);
    };
    for (const bool up : {false, true}) {
        const double level = up ? 130 : 90;
        const double first = touch_chance(level, 100, 120, 1), second = touch_chance(level, 120, 110, 1);
        const double expected = 3 * first * usd(hit_time(level, 0, 100, 120)) +
                                3 * (1 - first) * second * usd(hit_time(level, 1, 120, 110)) +
                                5 * (1 - first) * (1 - second) * usd(2);
        const std::string terms = std::string("underlying: ACME, strike: 105, maturity: 2.0, rebate: 3, ") +
                                  "rebate_paid: at_hit, " +
                                  (up ? "direction: up, barrier: 130" : "direction: down, barrier: 90");
        EXPECT_NEAR(worth("barrier", terms, p), expected, 1e-12) << terms;
    }
}

TEST(scripts, continuous_barrier_that_began_in_the_past) {
    const std::string terms =
        "underlying: ACME, strike: 105, maturity: 2.0, rebate: 3, direction: down, barrier: 90, "
        "monitoring_start: 2025-12-01";
    const double now = -10 / 365.0;
    EXPECT_DOUBLE_EQ(worth("barrier", terms, acme({{now, 89}, {0, 100}, {2, 110}})), 3 * usd(2));
    EXPECT_DOUBLE_EQ(worth("barrier", terms + ", kind: knock_in", acme({{now, 89}, {0, 100}, {2, 110}})),
                     5 * usd(2));
    EXPECT_NEAR(worth("barrier", terms, acme({{now, 91}, {0, 100}, {2, 110}})),
                (5 - 2 * touch_chance(90, 100, 110, 2)) * usd(2), 1e-13);
    path hit = acme({{now, 89}, {0, 100}, {2, 110}});
    hit.normals = hit.uniforms = {0.5};
    EXPECT_EQ(worth("barrier", terms + ", rebate_paid: at_hit", hit), 0)
        << "the rebate was paid before today";
}

TEST(scripts, discrete_barrier) {
    struct example {
        std::map<double, double> spots;
        bool up;
        double hit_at;  // 0 if the level is never hit
    };
    for (const example& e : {example{{{0, 80}, {0.5, 91}, {1, 95}, {2, 110}}, false, 0},
                             example{{{0, 80}, {0.5, 90}, {1, 95}, {2, 110}}, false, 0.5},
                             example{{{0, 80}, {0.5, 95}, {1, 80}, {2, 110}}, false, 1},
                             example{{{0, 150}, {0.5, 129}, {1, 95}, {2, 110}}, true, 0},
                             example{{{0, 150}, {0.5, 95}, {1, 130}, {2, 110}}, true, 1},
                             example{{{0, 150}, {0.5, 130}, {1, 140}, {2, 110}}, true, 0.5}}) {
        for (const bool call : {true, false}) {
            const std::string terms =
                std::string(
                    "underlying: ACME, strike: 105, maturity: 2.0, rebate: 3, monitoring: "
                    "discrete, monitoring_dates: [0.5, 1.0], ") +
                (e.up ? "direction: up, barrier: 130" : "direction: down, barrier: 90") +
                (call ? "" : ", option: put");
            const double vanilla = (call ? 5 : 0) * usd(2);
            const path p = acme(e.spots);
            const bool hit = e.hit_at > 0;
            EXPECT_DOUBLE_EQ(worth("barrier", terms, p), hit ? 3 * usd(2) : vanilla) << terms;
            EXPECT_DOUBLE_EQ(worth("barrier", terms + ", kind: knock_in", p), hit ? vanilla : 3 * usd(2))
                << terms;
            EXPECT_DOUBLE_EQ(worth("barrier", terms + ", rebate_paid: at_hit", p),
                             hit ? 3 * usd(e.hit_at) : vanilla)
                << terms;
        }
    }
}

TEST(scripts, barrier_terms_that_contradict_each_other_are_refused) {
    const std::string terms = "underlying: ACME, strike: 105, maturity: 2.0, direction: up, barrier: 130";
    EXPECT_EQ(refusal("barrier", terms + ", monitoring: discrete"),
              "the terms of the trade are refused: discrete monitoring needs monitoring_dates");
    EXPECT_EQ(refusal("barrier", terms + ", monitoring_dates: [1.0]"),
              "the terms of the trade are refused: monitoring_dates are for discrete monitoring; write "
              "monitoring: discrete");
    EXPECT_EQ(refusal("barrier", terms + ", monitoring: discrete, monitoring_dates: [1.0, 3.0]"),
              "the terms of the trade are refused: the last of the monitoring_dates comes after maturity");
}

TEST(scripts, barrier_may_be_watched_on_maturity_too) {
    const std::string terms =
        "underlying: ACME, strike: 105, maturity: 2.0, direction: up, barrier: 110, "
        "monitoring: discrete, monitoring_dates: [1.0, 2.0]";
    EXPECT_EQ(worth("barrier", terms, acme({{1, 90}, {2, 110}})), 0);
    EXPECT_DOUBLE_EQ(worth("barrier", terms, acme({{1, 90}, {2, 109}})), 4 * usd(2));
}

TEST(scripts, autocallable) {
    const std::string terms =
        "basket: [ACME, BETA], initial_level: [100, 50], observations: [0.5, 1.0, 2.0], "
        "call_level: [1.0, 0.875, 0.75], coupon: [0.125, 0.25, 0.5], protection: 0.5, notional: 1000";
    const auto basket = [](double a1, double b1, double a2, double b2, double a3, double b3) {
        path p = acme({{0.5, a1}, {1, a2}, {2, a3}});
        p.spots["BETA"] = {{0.5, b1}, {1, b2}, {2, b3}};
        return p;
    };
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(100, 60, 1, 1, 1, 1)), 1125 * usd(0.5))
        << "called at once";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(200, 49, 87.5, 44, 1, 1)), 1250 * usd(1))
        << "called a year later";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(99, 60, 80, 60, 75, 40)), 1500 * usd(2))
        << "called at the end";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(99, 60, 80, 60, 100, 25)), 1000 * usd(2))
        << "protected";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(99, 60, 80, 60, 100, 12.5)), 250 * usd(2))
        << "the worst counts";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, basket(99, 60, 80, 60, 37.5, 60)), 375 * usd(2))
        << "either may be it";
}

TEST(scripts, autocallable_that_has_started) {
    const std::string terms =
        "basket: [ACME], initial_level: 100, observations: [2025-12-31, 2026-01-15, 2027-01-15], "
        "coupon: 0.125, protection: 0.5, notional: 1000";
    EXPECT_EQ(worth("autocallable", terms, acme({{-15 / 365.0, 100}, {1, 40}})), 0)
        << "called and paid before today";
    EXPECT_EQ(worth("autocallable", terms, acme({{-15 / 365.0, 99}, {0, 101}, {1, 40}})), 1125)
        << "called today";
    EXPECT_DOUBLE_EQ(worth("autocallable", terms, acme({{-15 / 365.0, 99}, {0, 99}, {1, 40}})), 400 * usd(1));
}

TEST(scripts, variance_swap) {
    const std::string terms =
        "underlying: ACME, fixings: [0.0, 0.5, 1.0], strike: 0.5, annualisation: 2, notional: 10";
    const double e = std::exp(0.5);
    const path p = acme({{0, 100}, {0.5, 100 * e}, {1, 100}});  // two log returns of a half
    EXPECT_NEAR(worth("variance_swap", terms, p), 10 * (0.5 - 0.25) * usd(1), 1e-13);
    EXPECT_NEAR(worth("variance_swap", terms + ", strike_is: variance", p), 0, 1e-13);
    EXPECT_NEAR(
        worth("variance_swap", terms + ", strike_is: variance", acme({{0, 100}, {0.5, 100}, {1, 100}})),
        -5 * usd(1), 1e-13)
        << "nothing moved";
    EXPECT_NEAR(
        worth(
            "variance_swap",
            "underlying: ACME, fixings: [2025-12-31, 2026-01-05, 2027-01-15], strike: 0.5, annualisation: 2, "
            "notional: 10",
            acme({{-15 / 365.0, 100}, {-10 / 365.0, 100 * e}, {1, 100}})),
        10 * (0.5 - 0.25) * usd(1), 1e-13);
    EXPECT_NEAR(worth("variance_swap", "underlying: ACME, fixings: [0.0, 1.0], strike: 0.5, annualisation: 1",
                      acme({{0, 100}, {1, 100 * e}})),
                0, 1e-14)
        << "two fixings are enough";
    EXPECT_EQ(refusal("variance_swap", "underlying: ACME, fixings: [1.0], strike: 0.2"),
              "the terms of the trade are refused: a variance swap needs at least two fixings: the first and "
              "the last");
}

}  // namespace
}  // namespace tilewalk::scripts_test
