// SPDX-License-Identifier: Apache-2.0
// Andersen's quadratic-exponential scheme (2008) over one step, written once for the numbers of a program
// and for plain ones: `real` is program::value or double, and `number` makes one of a constant.
#pragma once

#include <algorithm>

#include "engine/models/heston.h"
#include "kernels/math.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// What the asset shares with the variance is divided by sigma, and in single precision nothing would be left
// of it. Below this one the asset takes its noise as it comes, and the mean of the variance in place of what
// was drawn: the error is less than sigma times the length of a step, and the step is a martingale.
inline constexpr double least_sigma = 1e-4;

// The parameters over a step, and what follows from them.
struct heston_step {
    double kappa, theta, sigma;
    bool is_moving;
    double rho, length;

    heston_step(const heston_parameters& p, double from, double to)
        : kappa(p.kappa.from(from)),
          theta(p.theta.from(from)),
          sigma(p.sigma.from(from)),
          is_moving(sigma > least_sigma),
          rho(is_moving ? p.rho.from(from) : 0),
          length(to - from) {}

    double decay() const { return kernels::exp(-kappa * length); }
    // The integral of the decay over the step.
    double decayed() const { return kappa * length < 1e-8 ? length : (1 - decay()) / kappa; }
    // The mean of the variance after the step is v decay() + risen().
    double risen() const { return theta * kappa * decayed(); }
    double rho_over_sigma() const { return is_moving ? rho / sigma : 0; }
    double unshared() const { return 1 - rho * rho; }
};

inline double select(bool condition, double a, double b) {
    return condition ? a : b;
}

template <class real>
using truth_of = decltype(real() <= real());

template <class real>
struct variance_rows {
    real decay, risen, spread, spread_of_mean;
};
// row(name, f) is the number f(step) of each step.
template <class real, class make_row>
variance_rows<real> rows_of_variance(const make_row& row) {
    return {row("decay", [](const heston_step& s) { return s.decay(); }),
            row("risen", [](const heston_step& s) { return s.risen(); }),
            row("spread", [](const heston_step& s) { return s.sigma * s.sigma * s.decay() * s.decayed(); }),
            row("spread_of_mean", [](const heston_step& s) {
                return 0.5 * s.theta * s.kappa * s.sigma * s.sigma * s.decayed() * s.decayed();
            })};
}

// The variance after a step, drawn from a law with its first two moments.
template <class real>
struct drawn_variance {
    real after, mean;

    // x is to go with exponent * after.
    template <class make>
    static drawn_variance over(const variance_rows<real>& step, real v, real z, real exponent,
                               const make& number) {
        using kernels::log, kernels::max, kernels::min, kernels::norm_cdf, kernels::sqrt;
        constexpr double least_mean = 1e-18, least_spread = 1e-14;
        drawn_variance d;
        // Mean and variance of the variance after the step; psi is the ratio of the latter to the mean
        // squared.
        d.mean = max(fma(v, step.decay, step.risen), least_mean);
        const real squared = d.mean * d.mean, variance = fma(v, step.spread, step.spread_of_mean);

        // Where psi is small, v' is a square, mean / g (sqrt(b) + z)^2 with g = 1 + b; else it has a mass
        // 1 - g at 0 and an exponential tail of mean mean / g. Divisions are what either side asks for most,
        // so they share them. Each side is computed with a psi of its own, so that the one not taken makes no
        // NaN.
        d.meet_ = where_they_meet * squared;
        d.variance_ = variance;
        d.is_square_ = variance <= d.meet_;
        const real ratio =
            min(2.0 * squared / (variance + select(d.is_square_, number(0.0), squared)), 2 / least_spread);
        const real twice_over_psi = max(ratio, 1.0);
        const real b = (twice_over_psi - 1.0) + sqrt(twice_over_psi * (twice_over_psi - 1.0));
        const real g = select(d.is_square_, 1.0 + b, ratio);

        // The mean of exp(A v') is finite where `room` is positive, and (g / room)^(1/2) exp(A mean b / room)
        // for a square, 1 - g + g^2 / room for a tail.
        const real room = fma(select(d.is_square_, -2.0 * exponent, -exponent), d.mean, g);
        d.is_possible_ = number(0.0) < room;
        const real safe = select(d.is_possible_, room, g);
        const real inverse = 1.0 / (g * safe);
        const real scale = d.mean * (safe * inverse);  // mean / g
        const real distance = sqrt(b) + z;
        const real beyond = norm_cdf(-z);  // 1 - u for the u that goes up with z
        const real tail = select(beyond < g, log(g / max(beyond, 1e-30)), number(0.0));
        d.after = scale * select(d.is_square_, distance * distance, tail);

        const real of_root =
            log(select(d.is_square_, safe * safe * inverse, fma(g * g, g * inverse, 1.0 - g)));
        const real squared_part = exponent * d.mean * (b * g * inverse);
        d.correction_ = select(d.is_square_, 0.5 * of_root - squared_part, -of_root);
        return d;
    }

    // What makes the step of x a martingale where x goes with -now * v as well, unless the exponent is too
    // large for that.
    real drift(real v, real now, real uncorrected) const {
        return select(is_possible_, fma(now, v, correction_), uncorrected);
    }

    // psi over where the laws meet, at most 1.
    real wild() const {
        using kernels::min;
        return min(variance_ / meet_, 1.0);
    }

  private:
    static constexpr double where_they_meet = 1.5;

    static real fma(real x, real y, real z) {
        using kernels::fma;
        return fma(x, y, z);
    }

    real variance_, meet_, correction_;
    truth_of<real> is_square_, is_possible_;
};

}  // namespace tilewalk::models
