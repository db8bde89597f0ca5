// SPDX-License-Identifier: Apache-2.0
// A step of Andersen's quadratic-exponential scheme (2008), for programs (`real` is program::value) or
// doubles.
#pragma once

#include <algorithm>
#include <optional>

#include "engine/models/heston.h"
#include "kernels/math.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// Least sigma with which the asset uses the noise that it shares with the variance: this noise is divided by
// sigma, and single precision would lose all digits for less. With a smaller sigma the asset uses its own
// noise and the mean of the variance instead of the drawn variance. The error is less than sigma times the
// length of a step, and the step is a martingale.
inline constexpr double least_sigma = 1e-4;

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
    double decayed() const { return kappa * length < 1e-8 ? length : (1 - decay()) / kappa; }
    // The mean of the variance after the step is v decay() + risen().
    double risen() const { return theta * kappa * decayed(); }
    double rho_over_sigma() const { return is_moving ? rho / sigma : 0; }
    double unshared() const { return 1 - rho * rho; }
    // The variance of the variance after the step is v spread() + spread_of_mean().
    double spread() const { return sigma * sigma * decay() * decayed(); }
    double spread_of_mean() const { return 0.5 * theta * kappa * sigma * sigma * decayed() * decayed(); }

    // psi is the variance of the variance after the step over its squared mean. As a function of v it
    // decreases, from sigma^2 / (2 kappa theta) at v = 0. Above psi = 1.5 the law has an exponential tail.
    static constexpr double where_laws_meet = 1.5;
    bool has_tail() const { return sigma * sigma > 2 * where_laws_meet * kappa * theta; }
    double tail_below() const {
        if (!has_tail()) return -1;
        const double a = where_laws_meet * decay() * decay(),
                     b = 2 * where_laws_meet * decay() * risen() - spread(),
                     c = where_laws_meet * risen() * risen() - spread_of_mean();
        const double root = kernels::sqrt(std::max(b * b - 4 * a * c, 0.0));
        // This form of the root avoids cancellation, since c <= 0.
        constexpr double most = 1e30;
        return std::min(b > 0 ? -2 * c / (b + root) : (root - b) / (2 * a), most);
    }
};

inline double select(bool condition, double a, double b) {
    return condition ? a : b;
}

template <class real>
using truth_of = decltype(real() <= real());

template <class real>
struct variance_rows {
    static constexpr double least_mean = 1e-18;

    real decay, risen, half_spread, half_spread_of_mean, tail_below;
    bool has_tail;      // true if the law has a tail on any step
    bool may_be_least;  // true if the mean may be below least_mean on any step
};
// Makes the rows of all steps: row(name, f) has the number f(step) for each step.
template <class real, class make_row>
variance_rows<real> rows_of_variance(const make_row& row, bool has_tail, bool may_be_least) {
    return {row("decay", [](const heston_step& s) { return s.decay(); }),
            row("risen", [](const heston_step& s) { return s.risen(); }),
            row("half_spread", [](const heston_step& s) { return 0.5 * s.spread(); }),
            row("half_spread_of_mean", [](const heston_step& s) { return 0.5 * s.spread_of_mean(); }),
            row("tail_below", [](const heston_step& s) { return s.tail_below(); }),
            has_tail,
            may_be_least};
}

// The variance v' after a step, from a law with the right mean m and variance s^2.
//
// For psi up to 1.5, v' = (sqrt(c) + sqrt(a) z)^2 with c = sqrt(m^2 - s^2 / 2) and a = m - c, without
// divisions: a b^2 and a of the paper. Otherwise v' is 0 or, with probability p = 2 / (1 + psi), exponential
// with mean t = m / p. Both laws share a division by r: a = s^2 / (2 r) with r = c + m, or
// t = m / 2 + s^2 / (2 r) with r = m. Numbers of the law that does not apply may be NaN.
template <class real>
class drawn_variance {
  public:
    drawn_variance(const variance_rows<real>& step, real v, real z)
        : has_tail_(step.has_tail), is_square_(step.tail_below <= v) {
        using kernels::fma, kernels::log, kernels::max, kernels::normal_to_exponential, kernels::sqrt;
        m_ = fma(v, step.decay, step.risen);
        if (step.may_be_least) m_ = max(m_, step.least_mean);
        half_spread_ = fma(v, step.half_spread, step.half_spread_of_mean);
        c_ = sqrt(fma(m_, m_, -half_spread_));
        const real inverse = 1.0 / of_law(c_ + m_, m_);
        a_ = half_spread_ * inverse;
        const real root = sqrt(c_ * a_);
        after_ = fma(fma(a_, z, root + root), z, c_);
        if (!has_tail_) return;
        t_ = fma(0.5, m_, a_);
        after_ = of_law(after_, t_ * max(normal_to_exponential(z) - log(t_ * inverse), 0.0));
    }

    real mean() const { return m_; }
    real after() const { return after_; }

    // Returns `start` - log E exp(A v') with A = `exponent`. The logarithm is A c / room - log(room) / 2 with
    // room = 1 - 2 A a for the square, log(1 + A m / room) with room = 1 - A t for the tail. Returns
    // `otherwise` if A is too large for a mean; leave it empty if that can't be.
    real corrected(real exponent, real start, const std::optional<real>& otherwise) const {
        using kernels::fma, kernels::log;
        const real room = fma(-exponent, of_law(a_ + a_, t_), 1.0);
        const real per_room = exponent / room;
        const real of_log = log(of_law(room, fma(per_room, m_, 1.0)));
        const real corrected = start - of_law(fma(per_room, c_, -0.5 * of_log), of_log);
        return otherwise ? select(0.0 < room, corrected, *otherwise) : corrected;
    }

    // For small A, log E exp(A v') is A m + A^2 s^2 / 2 + 4 A^3 skew() + ..., and the next term is A c (2 A
    // a)^3. For the law with a tail, whose skew is less than A m (A t)^2, it is taken as 0.
    real skew() const {
        using kernels::fma;
        const real of_square = fma(1.0 / 3, a_, c_);
        return a_ * a_ * (has_tail_ ? select(is_square_, of_square, 0.0) : of_square);
    }

    real wild() const {
        using kernels::min;
        return min(half_spread_ / (0.5 * heston_step::where_laws_meet * (m_ * m_)), 1.0);
    }

  private:
    real of_law(real square, real tail) const {
        return has_tail_ ? select(is_square_, square, tail) : square;
    }

    bool has_tail_;
    truth_of<real> is_square_;
    real m_, half_spread_, c_, a_, t_{}, after_;
};

}  // namespace tilewalk::models
