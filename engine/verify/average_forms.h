// SPDX-License-Identifier: Apache-2.0
// Values of options on the continuous mean of a price: geometric means in closed form, arithmetic means by
// Vecer's equation. Like closed_forms.h, plain C++ that shares nothing with the engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/verify/closed_forms.h"

namespace tilewalk::truth {

// An option on the mean of a price over all times from `begin` to expiry. Growth and variance accrue at
// constant rates. `begin` is a fraction of the life. `known` is the fraction of the averaging that lies
// before today, over which the mean was `so_far`. If the mean `floats`, it is the strike: a call pays max(S -
// A, 0), a put max(A - S, 0).
struct continuous_mean {
    side option = side::call;
    bool floats = false;
    double spot = 0, strike = 0;
    double growth = 0;    // (r - q) T
    double variance = 0;  // sigma^2 T
    double begin = 0;
    double known = 0, so_far = 0;
};

// Black's formula: the geometric mean of lognormal prices is lognormal.
inline double geometric_mean_option(const continuous_mean& o, double discount) {
    const double new_part = 1 - o.known, drift = o.growth - 0.5 * o.variance;
    const double middle = 0.5 * (1 + o.begin), length = 1 - o.begin;
    const double log_mean =
        new_part * (std::log(o.spot) + drift * middle) + (o.known > 0 ? o.known * std::log(o.so_far) : 0);
    const double variance = new_part * new_part * o.variance * (o.begin + length / 3);
    const double mean = std::exp(log_mean + 0.5 * variance);
    if (!o.floats) return black(o.option, mean, o.strike, variance, discount);
    // An option to exchange the mean for the last price (Margrabe 1978).
    const double covariance = new_part * o.variance * middle;
    return black(o.option, o.spot * std::exp(o.growth), mean, o.variance + variance - 2 * covariance,
                 discount);
}

namespace average {

// The mean of max(Z - strike, 0) if `above`, otherwise of max(strike - Z, 0), for dZ = (Z - q(t)) dW from Z =
// start, where q is the fraction still to be bought (Vecer 2001). Crank-Nicolson with `steps` steps in Z,
// half as many in time; the step next to expiry is fully implicit, to damp the kink's effect (Rannacher
// 1984).
template <class Q>
double martingale_mean(bool above, double start, double strike, double variance, const Q& q, double low,
                       double high, int steps) {
    const auto n = static_cast<std::size_t>(steps);
    const double gap = (high - low) / steps;
    std::vector<double> u(n + 1), a(n + 1), diagonal(n + 1), right(n + 1);
    // Each node starts with the mean of the payoff over its cell, so that a kink harms all grids alike.
    for (std::size_t i = 0; i <= n; ++i) {
        const double z = low + static_cast<double>(i) * gap, beyond = above ? z - strike : strike - z;
        const double inside = std::clamp(beyond / gap + 0.5, 0.0, 1.0);
        u[i] = inside < 1 ? 0.5 * gap * inside * inside : beyond;
    }
    const auto step = [&](double from, double to, double implicit) {
        const double dt = to - from, at = q(0.5 * (from + to));
        for (std::size_t i = 1; i < n; ++i) {
            const double distance = low + static_cast<double>(i) * gap - at;
            a[i] = 0.5 * variance * dt * distance * distance / (gap * gap);
            right[i] = u[i] + (1 - implicit) * a[i] * (u[i - 1] - 2 * u[i] + u[i + 1]);
        }
        // At the ends of the grid the value is linear in the martingale Z, so it stays constant.
        diagonal[0] = 1;
        right[0] = u[0];
        for (std::size_t i = 1; i < n; ++i) {
            const double c = implicit * a[i], before = i == 1 ? 0 : implicit * a[i - 1];
            const double eliminated = c / diagonal[i - 1];
            diagonal[i] = 1 + 2 * c - eliminated * before;
            right[i] += eliminated * right[i - 1];
        }
        for (std::size_t i = n - 1; i >= 1; --i) u[i] = (right[i] + implicit * a[i] * u[i + 1]) / diagonal[i];
    };
    const int times = steps / 2;
    // Backwards from expiry. The step next to it is split into four implicit steps.
    for (int k = times; k > 0; --k) {
        const double to = static_cast<double>(k) / times, from = static_cast<double>(k - 1) / times;
        if (k < times) {
            step(from, to, 0.5);
            continue;
        }
        for (int part = 4; part > 0; --part)
            step(from + (to - from) * (part - 1) / 4, from + (to - from) * part / 4, 1);
    }
    return between_points(u, (start - low) / gap);
}

}  // namespace average

// Vecer's Z: the mean so far plus the fraction still to be bought, in units of the price, is a martingale.
// Richardson extrapolation from two grids, the finer with half the spacing of the coarser.
inline double arithmetic_mean_option(const continuous_mean& o, double discount) {
    const double b = o.growth, length = 1 - o.begin, new_part = 1 - o.known;
    const auto to_buy = [&](double t) {
        const double left = 1 - std::max(t, o.begin);
        return new_part * (std::abs(b) < 1e-9 ? left - 0.5 * b * left * left : -std::expm1(-b * left) / b) /
               length;
    };
    const double fixed = o.floats ? 0 : o.strike, strike = o.floats ? 1 : 0;
    const double start = (o.known * o.so_far - fixed) / o.spot * std::exp(-b) + to_buy(0);
    const bool above = (o.option == side::call) != o.floats;
    // Half the grid's width: 9 standard deviations, times exp(sd) because Z grows with the price.
    const double sd = std::sqrt(o.variance), held = std::max(std::abs(start - to_buy(0)), to_buy(0));
    const double sd_of_mean = sd * std::sqrt(o.begin + length / 3) * new_part;
    const double reach = 9 * std::max(sd_of_mean, o.floats ? sd * held / 2 : 0.0) * std::exp(sd);
    const double low = std::min(start, strike) - reach, high = std::max(start, strike) + reach;
    const auto on = [&](int steps) {
        return average::martingale_mean(above, start, strike, o.variance, to_buy, low, high, steps);
    };
    const double coarse = on(300), fine = on(600);
    return discount * o.spot * std::exp(b) * (fine + (fine - coarse) / 3);
}

}  // namespace tilewalk::truth
