// SPDX-License-Identifier: Apache-2.0
// Exact undiscounted call prices for dF = alpha F^beta dW, absorbed at zero if 0 < beta < 1. Under CEV, F
// follows a noncentral chi-squared law (Schroder 1989). Under SABR (stochastic alpha) prices are known for
// beta 0, and for rho 0 by Antonov and Spector (2012) from the heat kernel of the hyperbolic plane.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "engine/verify/closed_forms.h"

namespace tilewalk::truth {

// The regularised upper incomplete gamma function: a series below the mean, a continued fraction above it.
inline double upper_gamma(double a, double x) {
    if (x <= 0) return 1;
    const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; term > 1e-17 * sum; ++n) sum += term *= x / (a + n);
        return 1 - front * sum;
    }
    // Lentz's method for the continued fraction.
    double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
    for (int n = 1;; ++n) {
        const double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (std::abs(c * d - 1) < 1e-16) return front * fraction;
    }
}

// P(X <= x) for a noncentral chi-squared X, as a Poisson-weighted sum of central laws.
inline double noncentral_chi_squared(double x, double degrees, double noncentrality) {
    const double mean = noncentrality / 2, wide = 12 * std::sqrt(mean) + 40;
    double sum = 0;
    for (double n = std::max(0.0, std::floor(mean - wide)); n <= mean + wide; ++n) {
        const double log_weight = (mean > 0 ? n * std::log(mean) : 0) - mean - std::lgamma(n + 1);
        if (mean == 0 && n > 0) break;
        sum += std::exp(log_weight) * (1 - upper_gamma(degrees / 2 + n, x / 2));
    }
    return sum;
}

struct cev {
    double forward = 0, volatility = 0, beta = 0, years = 0;

    double call(double strike) const {
        const double n = 1 / (1 - beta);
        return forward * (1 - noncentral_chi_squared(scaled(strike), 2 + n, scaled(forward))) -
               strike * above(strike);
    }
    // P(F > strike), also for a strike of 0.
    double above(double strike) const {
        return noncentral_chi_squared(scaled(forward), 1 / (1 - beta), scaled(strike));
    }

  private:
    double scaled(double f) const {
        const double deviation = (1 - beta) * volatility * std::sqrt(years);
        return std::pow(f, 2 - 2 * beta) / (deviation * deviation);
    }
};

struct sabr {
    double forward = 0, alpha = 0, beta = 0, rho = 0, nu = 0, years = 0;

    // For beta 0.
    double normal_call(double strike) const {
        const double scale = alpha / nu, k = (strike - forward) / scale + rho, unshared = 1 - rho * rho;
        const double nearest = std::acosh(std::max(1.0, (-rho * k + std::sqrt(k * k + unshared)) / unshared));
        const double rest = integrate_from(nearest, [&](double s) {
            const double along = k - rho * std::cosh(s);
            return std::sqrt(std::max(0.0, std::sinh(s) * std::sinh(s) - along * along)) / std::sinh(s);
        });
        return std::max(forward - strike, 0.0) + scale / std::numbers::pi * rest;
    }

    // For 0 < beta < 1 and rho 0.
    double call(double strike) const {
        const double q = power(strike), q0 = power(forward), eta = 0.5 / (1 - beta);
        const double low = std::asinh(nu * std::abs(q - q0) / alpha),
                     high = std::asinh(nu * (q + q0) / alpha);
        const double below = std::sinh(low) * std::sinh(low), beyond = std::sinh(high) * std::sinh(high);
        const double inner = integrate_between(low, high, [&](double s) {
            const double square = std::sinh(s) * std::sinh(s);
            const double angle = 2 * std::atan2(std::sqrt(std::max(0.0, square - below)),
                                                std::sqrt(std::max(0.0, beyond - square)));
            return std::sin(eta * angle) / std::sinh(s);
        });
        const double outer = integrate_from(high, [&](double s) {
            const double square = std::sinh(s) * std::sinh(s);
            const double ratio = std::sqrt(std::max(0.0, square - beyond) / (square - below));
            return std::exp(-2 * eta * std::atanh(ratio)) / std::sinh(s);
        });
        return std::max(forward - strike, 0.0) + 2 / std::numbers::pi * std::sqrt(strike * forward) *
                                                     (inner + std::sin(eta * std::numbers::pi) * outer);
    }

  private:
    double power(double f) const { return std::pow(f, 1 - beta) / (1 - beta); }

    // The heat kernel integrated beyond the distance s. Its root is smooth in w, where u = s + w^2.
    double kernel(double s) const {
        const double time = nu * nu * years, far = std::sqrt(std::max(80 * time, 1.0));
        const double sum = integrate(
            [&](double w) {
                const double u = s + w * w;
                const double root = std::sqrt(2 * std::sinh(s + 0.5 * w * w) * std::sinh(0.5 * w * w));
                return u * std::exp(-u * u / (2 * time)) * root * 2 * w;
            },
            0, std::sqrt(far), 24);
        return 2 * std::numbers::sqrt2 * std::exp(-time / 8) /
               (time * std::sqrt(2 * std::numbers::pi * time)) * sum;
    }
    template <class F>
    double integrate_from(double from, const F& f) const {
        const double time = nu * nu * years;
        return integrate(
            [&](double w) {
                const double s = from + w * w;
                return 2 * w * f(s) * kernel(s);
            },
            0, std::sqrt(std::sqrt(80 * time) + time), 24);
    }
    // Integrates f, which has square roots at both ends, by a substitution that makes them smooth.
    template <class F>
    double integrate_between(double from, double to, const F& f) const {
        return integrate(
            [&](double angle) {
                const double s = from + (to - from) * 0.5 * (1 - std::cos(angle));
                return f(s) * kernel(s) * (to - from) * 0.5 * std::sin(angle);
            },
            0, std::numbers::pi, 24);
    }
};

}  // namespace tilewalk::truth
