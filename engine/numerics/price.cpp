// SPDX-License-Identifier: Apache-2.0
// With M(z) = E exp(z X), on any vertical line between 0 and 1 (Lewis 2001),
//
//     E min(exp X, k) = 1 / (2 pi i) integral of k^(1 - z) M(z) / (z (1 - z)) dz,
//     P(exp X > k)    = 1 / (2 pi i) integral of k^-z M(z) / z dz.
//
// Between 0 and 1 every model has finite moments, |M| <= 1, and the first integrand falls with the square of
// the height even where M does not: one contour serves every model, maturity and parameter. The line moves
// towards an end of (0, 1) as |log k| grows, and results are accurate relative to min(1, k). It is cut into
// pieces of doubling height, because M may be a thousand or a millionth wide; each piece is bisected until
// Gauss and Kronrod agree. The line ends where the rest is too small: a tail v^-p, p >= 2, holds no more than
// the largest |f| v of the last piece. A digital's line goes on until M has fallen, too. (A trapezoid rule
// would need fewer points where M is narrow, but 1e5 for a maturity of a day.)
//
// Pure jumps of a short maturity, and stochastic volatility with a correlation near one, fall hardly faster
// than v^-2 for long, while k^-z keeps turning. Their line turns horizontal (aside), in the direction in
// which k^-z falls, at a height from which M can no longer rise against it: there are no singularities off
// the real axis (Lucic 2007 for Heston; by inspection for the others).
#include "engine/numerics/price.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "engine/numerics/black.h"
#include "engine/numerics/gauss_kronrod.h"
#include "tilewalk/error.h"

namespace tilewalk::fourier {
namespace {

struct bounded {
    double value = 0, error = 0;
};

// exp(-beyond) is lost when added to 1 in a double.
constexpr double beyond = 40;

struct aside_path {
    double height = std::numeric_limits<double>::infinity(), direction = 1, reach = 0;

    aside_path() = default;
    aside_path(const far_field& far, double log_strike) {
        const double turning = log_strike - far.drift, rate = std::abs(turning);
        if (!(rate > 0)) return;
        reach = 2 * beyond / rate;
        height = std::max({2 * reach, std::pow(2 * far.power / rate, 1 / far.fall), far.height});
        direction = turning > 0 ? 1 : -1;
    }
};

// Roundings counted for each unit of an exponent, whose summands may be several times larger than itself.
constexpr double roundings = 8;
struct term {
    complex value;
    double exponent = 0;
    // The larger of the terms whose difference is `value`. They may agree to any digit, and part further up.
    double standing = 0;
};

// 1 / (2 pi i) times the integral of f along the vertical line at `real_part`, if f(conj z) = conj f(z).
template <class F>
bounded up_the_line(const F& f, double real_part, const aside_path& path, const std::optional<ripples>& peaks,
                    double tolerance, long evaluations) {
    double highest = 0, exponent = 0;  // largest |f| v and exponent, on the last piece
    const auto at = [&](complex z) {
        const term t = f(z);
        exponent = std::max(exponent, t.exponent);
        return t;
    };
    const auto on_line = [&](double v) {
        const term t = at(complex(real_part, v));
        highest = std::max(highest, t.standing * v);
        return t.value.real();
    };
    double value = 0, error = 0, from = 0, tail = 0;
    const auto add = [&](const analytics::integral<double>& part) {
        value += part.value;
        error +=
            part.error + roundings * std::numeric_limits<double>::epsilon() * (16 + exponent) * part.size;
        exponent = 0;
    };
    for (double to = std::min(real_part, 1 - real_part);; from = to, to *= 2) {
        const bool below_peaks = peaks && from < peaks->height;
        // Keeps `highest` while peaks are still to come, which are as high as any before.
        if (!below_peaks) highest = 0;
        if (below_peaks) to = std::min(to, from + peaks->width);
        const bool leaves = to >= path.height;
        add(analytics::integrate(on_line, from, leaves ? path.height : to, tolerance, evaluations));
        tail = highest;
        if ((tail < tolerance && !below_peaks) || evaluations <= 0 || to > 1e18) break;
        if (leaves) {
            const auto aside = [&](double s) {
                return path.direction * at(complex(real_part + path.direction * s, path.height)).value.imag();
            };
            // In the end the integrand falls at least half as fast as k^-z.
            double s = 0;
            for (double next = path.reach / 64; s < path.reach; s = next, next *= 2) {
                add(analytics::integrate(aside, s, next, tolerance, evaluations));
            }
            tail = std::abs(aside(s)) * s;
            break;
        }
    }
    const bounded sum{value / std::numbers::pi, (error + tail) / std::numbers::pi};
    if (!std::isfinite(sum.value) || !std::isfinite(sum.error)) {
        throw tilewalk::error(error_kind::numeric,
                              "the Fourier transform of the model is not a finite number somewhere; its "
                              "parameters are too extreme");
    }
    return sum;
}

struct problem {
    double log_strike = 0, real_part = 0.5;
    const lognormal_part* like = nullptr;
    aside_path path;

    problem(const characteristic& law, double strike, const contour& along) {
        if (!(strike > 0) || !std::isfinite(strike)) {
            throw error(error_kind::input,
                        fmt::format("the strike is {}; expected a number above 0", strike));
        }
        log_strike = std::log(strike);
        const double end = 1 / std::max(2.0, std::abs(log_strike));
        real_part = along.real_part.value_or(log_strike < 0 ? end : 1 - end);
        if (!(real_part > 0 && real_part < 1)) {
            throw error(error_kind::usage,
                        fmt::format("the real part of the contour is {}; expected more than 0 and "
                                    "less than 1",
                                    real_part));
        }
        if (law.far) path = aside_path(*law.far, log_strike);
        if (!along.take_off_what_is_like || !law.like) return;
        // A part too small to be seen beside 1, or with a mean too far away, is not worth subtracting.
        if (law.like->log_weight < -beyond || std::abs(law.like->log_mean) > 300) return;
        if (law.far) {
            // On the horizontal line, up to half the height aside, at most exp(-40) of the part may be left.
            const double deviation = std::sqrt(law.like->variance);
            if (!(std::abs(log_strike - law.like->log_mean) < 9 * deviation)) return;
            path.height = std::max(path.height, 18 / deviation);
        }
        like = &*law.like;
    }

    // exp(shift) M(z) / below, less the same with the transform of the subtracted part.
    term rest(const characteristic& law, complex z, complex shift, complex below) const {
        const complex log_moment = law.log_moment(z), exponent = log_moment + shift;
        const bool counts = exponent.real() > -beyond;
        term sum{std::exp(exponent) / below, counts ? std::abs(log_moment) + std::abs(shift) : 0.0, 0};
        sum.standing = std::abs(sum.value.real());
        if (like) {
            const complex part = std::exp(like->log_weight + z * like->log_mean -
                                          0.5 * like->variance * z * (1.0 - z) + shift) /
                                 below;
            sum.value -= part;
            // An atom's transform never falls, but is subtracted exactly; the rest has no reason to rise.
            sum.standing = like->variance > 0 ? std::max(sum.standing, std::abs(part.real()))
                                              : std::abs(sum.value.real());
        }
        return sum;
    }
};

}  // namespace

option_prices vanilla(const characteristic& law, double strike, const contour& along) {
    const problem p(law, strike, along);
    const double least = std::min(1.0, strike), tolerance = 3e-14 * least;
    const bounded rest =
        up_the_line([&](complex z) { return p.rest(law, z, (1.0 - z) * p.log_strike, z * (1.0 - z)); },
                    p.real_part, p.path, law.peaks, tolerance, along.most_evaluations);
    const analytics::right out = strike >= 1 ? analytics::right::call : analytics::right::put;
    double price = strike >= 1 ? 1 : strike;
    if (p.like) {
        const double weight = std::exp(p.like->log_weight), mean = std::exp(p.like->log_mean);
        // The price under the subtracted law, which has neither a forward of 1 nor a mass of 1.
        price = (strike >= 1 ? -std::expm1(p.like->log_weight + p.like->log_mean)
                             : -strike * std::expm1(p.like->log_weight)) +
                weight * analytics::black_price(out, mean, strike, std::sqrt(p.like->variance));
    }
    price = std::clamp(price - rest.value, 0.0, least);
    option_prices prices{price, price, rest.error};
    (strike >= 1 ? prices.put : prices.call) += std::abs(1 - strike);
    return prices;
}

digital_prices digital(const characteristic& law, double strike, const contour& along) {
    const problem p(law, strike, along);
    const double tolerance = 3e-14 * std::min(1.0, 1 / strike);
    const bounded rest = up_the_line([&](complex z) { return p.rest(law, z, -z * p.log_strike, z); },
                                     p.real_part, p.path, law.peaks, tolerance, along.most_evaluations);
    double above = rest.value;
    if (p.like) {
        const double distance = p.like->log_mean - p.log_strike - 0.5 * p.like->variance,
                     deviation = std::sqrt(p.like->variance);
        // Without a deviation the price is certain; ending at the strike counts as above.
        const double chance = deviation > 0 ? 0.5 * std::erfc(-distance / (deviation * std::numbers::sqrt2))
                                            : (distance >= 0 ? 1.0 : 0.0);
        above += std::exp(p.like->log_weight) * chance;
    }
    above = std::clamp(above, 0.0, 1.0);
    return {above, 1 - above, rest.error};
}

}  // namespace tilewalk::fourier
