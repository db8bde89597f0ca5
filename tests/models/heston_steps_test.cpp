// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of path-steps)
// The time-stepping error of Heston's default steps, computed without chance from the exact law of the
// scheme. Paths follow that law.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bench/suites/steps.h"
#include "engine/numerics/price.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/scheme_law.h"

namespace tilewalk::heston_steps_test {
namespace {

using fourier::heston;
using tests::dollar_market;

constexpr std::array strikes{0.8, 1.0, 1.2};

std::string words(const heston& p) {
    return fmt::format("v0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}", p.v0, p.kappa, p.theta, p.sigma,
                       p.rho);
}
std::string market_of(const heston& p, const std::string& more = "") {
    return dollar_market(0, {{"A", fmt::format("spot: 1, model: {{heston: {{{}{}}}}}", words(p), more)}});
}

int own_steps(const heston& p, double years) {
    const auto plans = engine().explain(
        book::parse(fmt::format(
            "trades: [{{id: t, product: european, underlying: A, strike: 1, maturity: {}}}]", years)),
        market::parse(market_of(p)));
    EXPECT_EQ(plans.at(0).failure, "");
    int parts = 1;
    for (const std::string& m : plans.at(0).models) {
        if (const auto at = m.find(" steps at a time"); at != std::string::npos)
            parts = std::stoi(m.substr(m.rfind(' ', at - 1)));
    }
    return parts * static_cast<int>(plans.at(0).grid.size() - 1);
}

std::vector<double> error_of(const heston& p, double years, int steps) {
    return scheme_law(p, years, steps).error_of_calls(fourier::characteristic_of(p, years), strikes);
}
double worst_of(const heston& p, double years, int steps) {
    double worst = 0;
    for (const double e : error_of(p, years, steps))
        worst = std::max(worst, std::isnan(e) ? 1.0 : std::abs(e));
    return worst;
}

struct option {
    heston p;
    double years;
};
std::string say(const option& o, int steps) {
    return fmt::format("{}, {} years, {} steps", words(o.p), o.years, steps);
}

constexpr double most = 1e-4;

// Errors of calls under the hardest published parameter sets, and with a variance that reverts within weeks.
TEST(heston_steps, leave_less_than_a_basis_point_of_the_spot) {
    for (const option& o :
         {option{{0.04, 0.3, 0.04, 0.9, -0.5}, 0.5}, option{{0.010201, 6.21, 0.019, 0.61, -0.7}, 2},
          option{{0.09, 1.2, 0.08, 1.8, -0.45}, 0.5}, option{{0.11, 2, 0.5, 0.15, 0.3}, 1},
          option{{0.09, 20, 0.04, 0.5, -0.7}, 1}}) {
        const int steps = own_steps(o.p, o.years);
        EXPECT_LT(worst_of(o.p, o.years, steps), most) << say(o, steps);
    }
}

TEST(heston_steps_long, leave_less_than_a_basis_point_of_the_spot_in_every_published_set) {
    int sets = 0;
    for (const auto& e : bench::steps::examples()) {
        heston p;
        if (e.model != "heston" ||
            std::sscanf(e.set.c_str(), "v0: %lf, kappa: %lf, theta: %lf, sigma: %lf, rho: %lf", &p.v0,
                        &p.kappa, &p.theta, &p.sigma, &p.rho) != 5 ||
            p.sigma < 0.01 || e.is_watched)
            continue;
        ++sets;
        for (const double years : {0.1, 0.5, 1.0, 2.0, 5.0}) {
            const int steps = own_steps(p, years);
            EXPECT_LT(worst_of(p, years, steps), most) << say({p, years}, steps);
        }
    }
    EXPECT_EQ(sets, 22);
}

// The worst value of a time-dependent parameter sets the number of steps, even a value after the maturity.
TEST(heston_steps, follow_the_wildest_of_a_term) {
    struct told {
        std::string how, steps;
    };
    for (const told& t :
         {told{"kappa: 1, theta: 0.09, sigma: {1: 0.3, 3: 1.25}", "at least 50 steps"},
          told{"kappa: {1: 1, 3: 10}, theta: 0.09, sigma: 0.3", "at least 60 steps"},
          told{"kappa: 1, theta: 0.09, sigma: 0.3", "at least 16 steps"},
          told{"kappa: 1, theta: 0.09, sigma: 0.3, scheme: full_truncation", "at least 250 steps"},
          told{"kappa: 1, theta: 0.09, sigma: {1: 0.3, 3: 1.25}, scheme: full_truncation",
               "at least 1250 steps"},
          told{"kappa: 1, theta: {1: 0.09, 3: 0.01}, sigma: 0.3, scheme: full_truncation",
               "at least 300 steps"}}) {
        const auto plans = engine().explain(
            book::parse("trades: [{id: t, product: european, underlying: A, strike: 1, maturity: 1}]"),
            market::parse(
                dollar_market(0, {{"A", "spot: 1, model: {heston: {v0: 0.04, rho: -0.5, " + t.how + "}}"}})));
        ASSERT_EQ(plans.at(0).failure, "") << t.how;
        EXPECT_NE(plans[0].models.at(0).find(t.steps), std::string::npos)
            << t.how << ": " << plans[0].models[0];
    }
}

TEST(heston_steps, have_a_law_that_goes_to_that_of_the_model) {
    const heston p{0.04, 1.5, 0.04, 0.5, -0.7};
    const double few = worst_of(p, 1, 8), more = worst_of(p, 1, 16), many = worst_of(p, 1, 128);
    EXPECT_GT(few, 3e-5);
    EXPECT_LT(more, few / 3);
    EXPECT_LT(many, 1e-6);
}

// With one step a year, the scheme's law says that prices are off by five to ten standard errors of 2^18
// paths. A sound engine misses one of three comparisons at 4.5 errors for one seed in 50,000.
TEST(heston_steps, of_paths_have_the_law) {
    const heston p{0.04, 4, 0.25, 1, -0.5};
    constexpr double years = 4;
    const std::vector<double> off = error_of(p, years, 4);
    std::vector<std::string> trades;
    for (const double strike : strikes)
        trades.push_back(fmt::format(
            "product: european, underlying: A, option: put, strike: {}, maturity: {}", strike, years));
    const auto rows = priced("", market_of(p, ", steps_per_year: 1"), trades, 1 << 18, 3);
    for (std::size_t i = 0; i < strikes.size(); ++i) {
        const double truth = fourier::vanilla(fourier::characteristic_of(p, years), strikes[i]).put;
        EXPECT_NEAR(rows[i].price, truth + off[i], limit * rows[i].standard_error)
            << strikes[i] << ' ' << off[i];
        EXPECT_GT(std::abs(rows[i].price - truth), limit * rows[i].standard_error) << strikes[i];
    }
}

}  // namespace
}  // namespace tilewalk::heston_steps_test
