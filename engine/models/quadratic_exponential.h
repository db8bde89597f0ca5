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

// The variance after a step, and the law that it is drawn from.
template <class real>
struct drawn_variance {
    real after, mean;
    real wild;  // psi over where the laws meet, at most 1
    truth_of<real> is_square;
    real a, b_squared;           // the square a (b + z)^2
    real mass, rest, tail_mean;  // 0 with the mass, else an exponential tail

    template <class make>
    static drawn_variance over(const variance_rows<real>& step, real v, real z, const make& number) {
        using kernels::log, kernels::max, kernels::min, kernels::norm_cdf, kernels::sqrt;
        constexpr double where_they_meet = 1.5, least_mean = 1e-18, least_spread = 1e-14;
        drawn_variance d;
        // Mean and variance of the variance after the step, and their ratio psi.
        d.mean = max(fma(v, step.decay, step.risen), least_mean);
        const real psi = max(fma(v, step.spread, step.spread_of_mean) / (d.mean * d.mean), least_spread);

        // Where psi is small, a square of a normal; else a mass at 0 and an exponential tail. Each is
        // computed with a psi of its own side, so that the one not taken makes no NaN.
        d.is_square = psi <= number(where_they_meet);
        const real tame = min(psi, where_they_meet), twice_over_psi = 2.0 / tame;
        d.wild = tame * (1 / where_they_meet);
        d.b_squared = (twice_over_psi - 1.0) + sqrt(twice_over_psi) * sqrt(twice_over_psi - 1.0);
        d.a = d.mean / (1.0 + d.b_squared);
        const real distance = sqrt(d.b_squared) + z;
        const real square = d.a * (distance * distance);

        const real wide = max(psi, where_they_meet);
        d.mass = (wide - 1.0) / (wide + 1.0);
        d.rest = 2.0 / (wide + 1.0);
        d.tail_mean = 0.5 * d.mean * (wide + 1.0);  // mean / rest
        const real beyond = norm_cdf(-z);           // 1 - u for the u that goes up with z
        const real tail =
            select(beyond < d.rest, d.tail_mean * log(d.rest / max(beyond, 1e-30)), number(0.0));
        d.after = select(d.is_square, square, tail);
        return d;
    }

    // The drift that makes the step of x a martingale where x goes with exponent * after, and with -now * v:
    // the mean of exp(exponent * after) is known for either law, unless the exponent is too large.
    template <class make>
    real drift(real v, real exponent, real now, real uncorrected, const make& number) const {
        using kernels::log;
        const real room = select(is_square, 1.0 - 2.0 * exponent * a, 1.0 - exponent * tail_mean);
        const auto is_possible = number(0.0) < room;
        const real safe_room = select(is_possible, room, number(1.0));
        // Minus the logarithm of that mean.
        const real squared_part = -exponent * a * b_squared / safe_room;
        const real of_root = log(select(is_square, safe_room, mass + rest / safe_room));
        const real correction = select(is_square, fma(number(0.5), of_root, squared_part), -of_root);
        return select(is_possible, fma(now, v, correction), uncorrected);
    }

  private:
    static real fma(real x, real y, real z) {
        using kernels::fma;
        return fma(x, y, z);
    }
};

}  // namespace tilewalk::models
