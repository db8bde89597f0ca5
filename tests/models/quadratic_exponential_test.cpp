// SPDX-License-Identifier: Apache-2.0
// The law from which the quadratic-exponential scheme draws the next variance, by quadrature over its normal:
// it has the moments of the process, and the mean of its exponential is the correction of the asset's drift.
#include "engine/models/quadratic_exponential.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/models/heston.h"
#include "tests/draws.h"

namespace tilewalk::models::quadratic_exponential_test {
namespace {

using draws = random_parameters;

struct drawn_step {
    heston_step step;
    double v;

    variance_rows<double> rows() const {
        return rows_of_variance<double>(
            [&](const char*, double (*number)(const heston_step&)) { return number(step); }, step.has_tail(),
            false);
    }
    drawn_variance<double> at(double z) const { return {rows(), v, z}; }
    bool is_square() const { return step.tail_below() <= v; }
    double mean() const { return v * step.decay() + step.risen(); }
    double spread() const { return v * step.spread() + step.spread_of_mean(); }
};

// A random step: half of them are far from Feller's condition, a third have a variance near or at 0.
drawn_step drawn(draws& from, int number) {
    heston_parameters p;
    p.kappa = by_term::flat(from.between(0.1, 5));
    p.theta = by_term::flat(from.over_decades(0.003, 0.3));
    const double feller = std::sqrt(2 * p.kappa.values[0] * p.theta.values[0]);
    p.sigma = by_term::flat(feller * (number % 2 == 0 ? from.between(0.2, 1.2) : from.between(1.3, 4)));
    p.rho = by_term::flat(from.between(-0.99, 0.99));
    const heston_step step(p, 0, from.over_decades(0.001, 0.5));
    double v = p.theta.values[0] * from.over_decades(0.03, 3);
    if (number % 3 == 1) v = std::max(step.tail_below(), 1e-6) * from.between(0.5, 1.5);
    if (number % 12 == 5) v = 0;
    return {step, v};
}

// The mean of f(v') over the drawn normal, by the midpoint rule on two pieces that meet where v' leaves 0.
template <class function>
double mean_of(const drawn_step& s, const function& f) {
    std::vector<double> ends{-9, 9};
    if (!s.is_square()) {
        double low = -9, high = 9;
        for (int i = 0; i < 60; ++i) {
            const double middle = 0.5 * (low + high);
            (s.at(middle).after() > 0 ? high : low) = middle;
        }
        ends = {-9, high, 9};
    }
    double sum = 0;
    for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
        constexpr int points = 4000;
        const double h = (ends[k + 1] - ends[k]) / points;
        for (int i = 0; i < points; ++i) {
            const double z = ends[k] + (i + 0.5) * h;
            sum += h * std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) * f(s.at(z).after());
        }
    }
    return sum;
}

TEST(quadratic_exponential, has_the_moments_of_the_process) {
    draws from(1);
    int squares = 0;
    for (int i = 0; i < 400; ++i) {
        const drawn_step s = drawn(from, i);
        squares += s.is_square();
        const double mean = mean_of(s, [](double v) { return v; });
        const double square = mean_of(s, [&](double v) { return (v - s.mean()) * (v - s.mean()); });
        EXPECT_NEAR(mean, s.mean(), 2e-5 * s.mean()) << i;
        EXPECT_NEAR(square, s.spread(), 2e-5 * s.spread()) << i;
        EXPECT_NEAR(s.at(0).mean(), s.mean(), 1e-14 * s.mean()) << i;
        for (const double z : {-8.0, -1.0, 0.0, 1.0, 8.0}) EXPECT_GE(s.at(z).after(), 0) << i << " at " << z;
    }
    EXPECT_GT(squares, 100);
    EXPECT_LT(squares, 300);
}

// psi is the variance of v' over its squared mean. The scheme changes from one law to the other at 1.5.
TEST(quadratic_exponential, its_laws_meet_where_they_should) {
    draws from(2);
    int tails = 0;
    for (int i = 0; i < 400; ++i) {
        drawn_step s = drawn(from, i);
        const auto psi = [&] { return s.spread() / (s.mean() * s.mean()); };
        EXPECT_EQ(psi() <= heston_step::where_laws_meet, s.is_square()) << i;
        EXPECT_NEAR(s.at(0).wild(), std::min(1.0, psi() / heston_step::where_laws_meet), 1e-12) << i;
        if (!s.step.has_tail()) {
            s.v = 0;
            EXPECT_LE(psi(), heston_step::where_laws_meet) << i;
            continue;
        }
        ++tails;
        s.v = s.step.tail_below();
        EXPECT_NEAR(psi(), heston_step::where_laws_meet, 1e-9) << i;
    }
    EXPECT_GT(tails, 100);
    EXPECT_LT(tails, 350);
}

TEST(quadratic_exponential, knows_the_mean_of_its_exponential) {
    draws from(3);
    int infinite = 0;
    for (int i = 0; i < 400; ++i) {
        const drawn_step s = drawn(from, i);
        const double exponent = (i % 3 == 0 ? -1 : 1) * from.over_decades(0.1, 300) / s.step.sigma;
        const double corrected = s.at(0).corrected(exponent, 0.25, 1e6);
        if (corrected == 1e6) {
            ++infinite;
            EXPECT_GT(exponent, 0) << i;
            continue;
        }
        EXPECT_EQ(corrected, s.at(0).corrected(exponent, 0.25, std::nullopt)) << i;
        // Skips exponentials that grow as fast as the normal density falls: the quadrature ends too early.
        if (exponent * s.at(8).after() > 20) continue;
        EXPECT_NEAR(0.25 - corrected,
                    std::log1p(mean_of(s, [&](double v) { return std::expm1(exponent * v); })),
                    2e-5 * std::abs(exponent) * (s.mean() + std::sqrt(s.spread())))
            << i;
    }
    EXPECT_GT(infinite, 1);
    EXPECT_LT(infinite, 100);
}

TEST(quadratic_exponential, a_short_steps_logarithm_has_three_terms) {
    draws from(4);
    int tails = 0;
    double worst = 0;
    for (int i = 0; i < 2000; ++i) {
        const drawn_step s = drawn(from, i);
        const double a = s.step.sigma * s.step.sigma * s.step.decayed();  // an upper bound of 2 a and of t
        const double exponent = (i % 2 == 0 ? 1 : -1) * from.over_decades(1e-3, 0.05) / a;
        const auto d = s.at(0);
        const double exact = -d.corrected(exponent, 0, std::nullopt);
        const double three = exponent * s.mean() + 0.5 * exponent * exponent * s.spread() +
                             4 * exponent * exponent * exponent * d.skew();
        const double small = std::abs(exponent) * a;
        const double bound = std::abs(exponent) * s.mean() * small * small * small * 1.1;
        const double left_out = s.is_square() ? 0 : std::abs(exponent) * s.mean() * small * small;
        EXPECT_LE(std::abs(exact - three), bound + left_out + 1e-15) << i;
        worst = std::max(worst, std::abs(exact - three) / (bound + left_out + 1e-15));
        tails += !s.is_square();
        if (small > 0.02 && s.is_square()) {
            EXPECT_GT(std::abs(exact - three + 4 * std::pow(exponent, 3) * d.skew()), std::abs(exact - three))
                << i;
        }
    }
    EXPECT_GT(tails, 300);
    EXPECT_GT(worst, 0.05);
}

}  // namespace
}  // namespace tilewalk::models::quadratic_exponential_test
