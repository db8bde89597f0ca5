// SPDX-License-Identifier: Apache-2.0
// Options that count the time that a price spends beyond a level: without a break (Parisian), or in total
// (cumulative Parisian, step options). Like closed_forms.h, plain C++ that shares nothing with the engine.
//
// Time is measured by the variance of the log price, so that log(price / spot) is a Brownian motion W with a
// drift mu. Weighting paths by exp(mu W(v) - mu^2 v / 2) removes the drift.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "engine/verify/closed_forms.h"

namespace tilewalk::truth {

// A payoff at expiry that depends on the time a continuously monitored price spends beyond a barrier.
struct excursion_option {
    enum class pays { call, put, money };  // `money` pays one unit
    pays what = pays::call;
    bool down = true;  // true: time below the barrier counts; false: above
    double spot = 0, strike = 0, barrier = 0;
    double growth = 0;    // (r - q) T
    double variance = 0;  // sigma^2 T

    double drift() const { return growth / variance - 0.5; }
    double level() const { return std::log(barrier / spot); }
    double direction() const { return down ? -1 : 1; }  // sign of log moves into the counted side
    bool begins_beyond() const { return (spot - barrier) * direction() > 0; }
    double paid(double price) const {
        return what == pays::money ? 1
                                   : intrinsic(what == pays::call ? side::call : side::put, price, strike);
    }
    // The mean payoff from `price` on, if a variance of `left` is still to come before expiry.
    double mean_from(double price, double left) const {
        if (what == pays::money) return 1;
        return black(what == pays::call ? side::call : side::put, price * std::exp(growth * left / variance),
                     strike, left, 1);
    }
    // Monitoring until a variance of `gone`, with the barrier as the only level, on its side of the spot.
    watch until(double gone) const {
        watch w{spot, growth * gone / variance, gone};
        (spot > barrier ? w.lower : w.upper) = barrier;
        return w;
    }

    // The payoff times exp(mu y), as a function of the last log price y, is a sum of these on intervals of y.
    struct exponential {
        double factor, rate, from, to;
    };
    std::vector<exponential> exponentials() const {
        const double mu = drift(), far = std::numeric_limits<double>::infinity();
        if (what == pays::money) return {{1, mu, -far, far}};
        const double at = std::log(strike / spot);
        if (what == pays::call) return {{spot, mu + 1, at, far}, {-strike, mu, at, far}};
        return {{strike, mu, -far, at}, {-spot, mu + 1, -far, at}};
    }
};

// exp(z^2) erfc(z) for complex z, with an error of about 1e-13. On the right half-plane by Weideman (1994): a
// polynomial of (L - z) / (L + z), which maps the imaginary axis to a circle. Its coefficients are Fourier
// coefficients of the Gaussian on that circle.
inline std::complex<double> scaled_erfc(std::complex<double> z) {
    constexpr int terms = 48, points = 2 * terms;
    static const double wide = std::sqrt(terms / std::numbers::sqrt2);
    static const std::array<double, terms> coefficients = [] {
        std::array<double, terms> made{};
        for (int n = 1; n <= terms; ++n) {
            double sum = 0;
            for (int k = -points + 1; k < points; ++k) {
                const double angle = k * std::numbers::pi / points, t = wide * std::tan(0.5 * angle);
                sum += std::exp(-t * t) * (wide * wide + t * t) * std::cos(n * angle);
            }
            made[static_cast<std::size_t>(n - 1)] = sum / (2 * points);
        }
        return made;
    }();
    if (z.real() < 0) return 2.0 * std::exp(z * z) - scaled_erfc(-z);
    const std::complex<double> over = 1.0 / (wide + z), turned = (wide - z) * over;
    std::complex<double> sum = 0;
    for (std::size_t n = terms; n-- > 0;) sum = sum * turned + coefficients[n];
    return over * (1 / std::sqrt(std::numbers::pi) + 2.0 * over * sum);
}

// Inverts a Laplace transform at t > 0, where the original function must be smooth: Fourier series of Abate
// and Whitt (1995), with Euler summation of the tail. The function of x may grow at most like exp(2 x / t).
template <class F>
double inverse_laplace(const F& transform, double t) {
    constexpr double size = 26;  // the error is exp(-size) times the function at 3 t
    constexpr int first = 60, more = 14;
    double sum = 0.5 * transform(std::complex<double>(0.5 * size / t, 0)).real(), mean = 0, binomial = 1;
    for (int k = 1; k <= first + more; ++k) {
        sum += (k % 2 == 0 ? 1 : -1) *
               transform(std::complex<double>(0.5 * size / t, k * std::numbers::pi / t)).real();
        if (k < first) continue;
        mean += binomial * sum;
        binomial *= static_cast<double>(first + more - k) / (k - first + 1);
    }
    return std::exp(0.5 * size) / t * mean * std::ldexp(1.0, -more);
}

namespace parisian {

// The integral of r exp(-r^2 / 2) exp(p + q r) for r from `low` to `high`.
inline std::complex<double> rayleigh_piece(std::complex<double> p, std::complex<double> q, double low,
                                           double high) {
    const double root = std::sqrt(0.5 * std::numbers::pi);
    // The integral from r to infinity, but without 2 q root exp(p + q^2 / 2) if r lies before the peak at q.
    const auto from = [&](double r) -> std::complex<double> {
        if (r == std::numeric_limits<double>::infinity()) return 0;
        const std::complex<double> at = (r - q) / std::numbers::sqrt2,
                                   value = std::exp(p + q * r - 0.5 * r * r);
        return value * (1.0 + q * root * (at.real() < 0 ? -scaled_erfc(-at) : scaled_erfc(at)));
    };
    if (!(low < high)) return 0;
    const bool has_peak = low < q.real() && !(high < q.real());
    return from(low) - from(high) + (has_peak ? 2 * root * q * std::exp(p + 0.5 * q * q) : 0.0);
}

// The mean payoff (times exp(mu y)) over paths that begin at distance `away` from the barrier, outside, and
// by expiry, at variance v, have stayed beyond it for a window of variance d without a break. With k = sqrt(2
// lambda) and z = k sqrt(d), the time at which the window is complete has the transform exp(-k away) / (1 + z
// sqrt(2 pi) exp(z^2 / 2) N(z)). The path's place at that time is independent of the time: beyond the barrier
// by sqrt(d) times a Rayleigh variable (Chesney, Jeanblanc-Picque and Yor 1997).
inline double mean_of_entered(const excursion_option& o, double away, double v, double d) {
    if (!(v > d)) return 0;
    const double sign = o.direction(), level = o.level(), wide = sign * std::sqrt(d);
    const double far = std::numeric_limits<double>::infinity();
    const auto parts = o.exponentials();
    // The window is never complete before d, so the transform times exp(lambda d) is inverted at v - d.
    const auto transform = [&](std::complex<double> lambda) {
        const std::complex<double> k = std::sqrt(2.0 * lambda), z = k * std::sqrt(d);
        const std::complex<double> waits =
            std::exp(-0.5 * z * z) *
                (1.0 - z * std::sqrt(0.5 * std::numbers::pi) * scaled_erfc(z / std::numbers::sqrt2)) +
            z * std::sqrt(2 * std::numbers::pi);
        std::complex<double> rest = 0;  // the later payoff's transform, averaged over the path's place
        for (const auto& e : parts) {
            const double c = e.rate;
            const auto part = [&](double a, double b) {  // exp(c y) if it held on the whole line
                return rayleigh_piece(c * level, c * wide, a, b) * 2.0 / (k * k - c * c);
            };
            if (e.from == -far && e.to == far) {
                rest += e.factor * part(0, far);
                continue;
            }
            const bool upper = e.to == far;
            const double at = upper ? e.from : e.to, change = std::max((at - level) / wide, 0.0);
            // Places of the path above the end `at` of the interval (a) and below it (b).
            const double low_a = sign > 0 ? change : 0, high_a = sign > 0 ? far : change;
            const double low_b = sign > 0 ? 0 : change, high_b = sign > 0 ? change : far;
            const auto falls = [&](double a, double b) {  // exp(c at - k (y - at))
                return rayleigh_piece(c * at - k * (level - at), -k * wide, a, b);
            };
            const auto rises = [&](double a, double b) {  // exp(c at + k (y - at))
                return rayleigh_piece(c * at + k * (level - at), k * wide, a, b);
            };
            if (upper) {
                rest += e.factor * (rises(low_b, high_b) / (k * (k - c)) + part(low_a, high_a) -
                                    falls(low_a, high_a) / (k * (k + c)));
            } else {
                rest += e.factor * (falls(low_a, high_a) / (k * (k + c)) + part(low_b, high_b) -
                                    rises(low_b, high_b) / (k * (k - c)));
            }
        }
        return std::exp(-k * away) / waits * rest;
    };
    return inverse_laplace(transform, v - d);
}

// The density of the variance at which a driftless path first reaches a level at distance `away`.
inline double first_touch_density(double away, double variance) {
    return away / (variance * std::sqrt(variance)) * normal_density(away / std::sqrt(variance));
}

// The mean of f(variance of the first passage to a level at distance `away`), over passages before `last`.
// That variance is away^2 over the square of a normal variable.
template <class F>
double first_touch_mean(double away, double last, const F& f, int panels = 2) {
    if (away == 0) return f(0.0);
    const double least = away / std::sqrt(last), most = 9 + least;
    return integrate(
        [&](double x) {
            const double z = least + (most - least) * x * x;
            return 4 * (most - least) * x * normal_density(z) * f(away * away / (z * z));
        },
        0, 1, panels);
}

}  // namespace parisian

// The undiscounted mean payoff over paths that stay beyond the barrier for a whole window without a break.
// `window`, and the time `elapsed` that the path has already been there, are fractions of the life.
inline double parisian_in(const excursion_option& o, double window, double elapsed = 0) {
    const double v = o.variance, d = window * v, mu = o.drift(), away = std::abs(o.level());
    const double weight = std::exp(-0.5 * mu * mu * v);
    if (!o.begins_beyond()) return weight * parisian::mean_of_entered(o, away, v, d);
    const double left = (window - elapsed) * v;
    if (!(v > left)) return 0;
    // A path that begins beyond the barrier stays to the end of the window, or leaves and starts again.
    const double stays = o.until(left).mean([&](double s) { return o.mean_from(s, v - left); }, {});
    const double last = std::min(left, v - d);
    if (!(last > 0)) return stays;
    const double leaves = parisian::first_touch_mean(
        away, last, [&](double s) { return parisian::mean_of_entered(o, 0, v - s, d); });
    return stays + weight * leaves;
}

// The undiscounted mean of the payoff times weight(fraction of the life spent beyond the barrier), which may
// jump at `breaks`. The path begins at distance `away` from the barrier. Given a local time of 2 c at the
// barrier, the time spent on the side where the path begins has the density of a first passage over a
// distance of away + c, and the time on the other side that of one over c (Karatzas and Shreve 1984). The
// time after the last touch is added to one of them. Hugonnier (1999) has the same law.
template <class G>
double occupation_mean(const excursion_option& o, const G& weight, const std::vector<double>& breaks = {}) {
    const double v = o.variance, mu = o.drift(), level = o.level(), away = std::abs(level);
    const double infinity = std::numeric_limits<double>::infinity();
    const bool beyond = o.begins_beyond();
    const double across = o.spot == o.barrier ? o.direction() : (o.spot > o.barrier ? -1 : 1);
    const auto parts = o.exponentials();
    // The mean payoff (times exp(mu y)) over ends of the path in `direction` from the barrier, weighted by
    // the first-passage density over the distance of the end plus x.
    const auto ended = [&](double direction, double x, double t) {
        const double sd = std::sqrt(t);
        double sum = 0;
        for (const auto& e : parts) {
            const double g = e.rate * direction;
            const auto from = [&](double a) {
                if (a == infinity) return 0.0;
                return std::exp(g * a) * normal_density((x + a) / sd) / sd +
                       g * std::exp(0.5 * g * g * t - g * x) * normal_cdf((g * t - x - a) / sd);
            };
            const double one = direction * (e.from - level), other = direction * (e.to - level);
            const double low = std::max(std::min(one, other), 0.0), high = std::max(one, other);
            if (low < high) sum += e.factor * std::exp(e.rate * level) * (from(low) - from(high));
        }
        return sum;
    };
    double steepest = 0;
    for (const auto& e : parts) steepest = std::max(steepest, std::abs(e.rate));
    // The density of the time u spent on the side where the path begins.
    const auto density = [&](double u) {
        const double rest = v - u;
        if (!(u > 0 && rest > 0)) return 0.0;
        const double shorter = std::sqrt(u * rest / v);
        const double reach = std::min({9 * std::sqrt(u), 9 * std::sqrt(rest) + steepest * rest});
        const int panels = std::clamp(static_cast<int>(reach / (3 * shorter)) + 1, 2, 12);
        return integrate(
            [&](double c) {
                return 2 * (parisian::first_touch_density(c + away, u) * ended(across, c, rest) +
                            parisian::first_touch_density(c, rest) * ended(-across, c + away, u));
            },
            0, reach, panels);
    };
    // u = v sin^2(angle) removes the square roots at both ends. The density is small for u below `away`^2.
    std::vector<double> edges{0, 0.5 * std::numbers::pi};
    for (const double part : {0.3, 1.0}) {
        if (part * away < std::sqrt(v)) edges.push_back(std::asin(part * away / std::sqrt(v)));
    }
    for (const double b : breaks) {
        if (b > 0 && b < 1) edges.push_back(std::asin(std::sqrt(beyond ? b : 1 - b)));
    }
    std::sort(edges.begin(), edges.end());
    double crossed = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        crossed += integrate(
            [&](double angle) {
                const double part = std::sin(angle) * std::sin(angle), by = weight(beyond ? part : 1 - part);
                return by == 0 ? 0.0 : by * v * std::sin(2 * angle) * density(part * v);
            },
            edges[i], edges[i + 1], 3);
    }
    const double never = o.until(v).mean([&](double s) { return o.paid(s); }, {o.strike});
    return weight(beyond ? 1.0 : 0.0) * never + std::exp(-0.5 * mu * mu * v) * crossed;
}

// The mean fraction of the life that the price spends between two levels.
inline double mean_time_within(double spot, double growth, double variance, double lower, double upper) {
    return integrate(
        [&](double x) {
            const double t = x * x;
            return 2 * x * within(spot * std::exp(growth * t), variance * t, lower, upper);
        },
        0, 1, 12);
}

}  // namespace tilewalk::truth
