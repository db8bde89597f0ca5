// SPDX-License-Identifier: Apache-2.0
#include "engine/numerics/black.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "engine/numerics/gauss_kronrod.h"
#include "tilewalk/error.h"

namespace tilewalk::analytics {
namespace {

// Prices in this file are those of the out-of-the-money option, in units of sqrt(forward * strike). Calls and
// puts are then one function, from 0 to exp(-m / 2), of m = |log(forward / strike)| and the deviation s.

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_density(double x) {
    return std::exp(-0.5 * x * x) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
}

// exp(h t) cdf(h + t) - exp(-h t) cdf(h - t), h = -m / s, t = s / 2; if the terms cancel, as an integral.
double scaled_price(double m, double s) {
    if (s <= 0) return 0;
    const double h = -m / s, t = 0.5 * s;
    if (t >= 1) return std::exp(-0.5 * m) * normal_cdf(h + t) - std::exp(0.5 * m) * normal_cdf(h - t);
    if (h > -1) {
        const auto slope = [&](double r) {
            return std::exp(h * r) * (normal_density(h + r) + h * normal_cdf(h + r));
        };
        return analytics::gauss_kronrod(slope, -t, t).value;
    }
    // Integral of vega over deviations u up to s, in the variable y = m^2 / (2 u^2) - h^2 / 2.
    const auto vega = [&](double y) {
        const double shrink = 1 / (1 + 2 * y / (h * h)), u = s * std::sqrt(shrink);
        return std::exp(-y - 0.125 * u * u) * shrink * std::sqrt(shrink);
    };
    double sum = 0;
    constexpr std::array<double, 6> edges{0, 1, 3, 8, 18, 45};
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        sum += analytics::gauss_kronrod(vega, edges[i], edges[i + 1]).value;
    }
    return normal_density(h) * s / (h * h) * sum;
}

// exp(-m / 2) - scaled_price(m, s), without cancellation.
double scaled_rest(double m, double s) {
    const double h = -m / s, t = 0.5 * s;
    return std::exp(-0.5 * m) * normal_cdf(-h - t) + std::exp(0.5 * m) * normal_cdf(h - t);
}

double scaled_vega(double m, double s) {
    const double h = m / s;
    return normal_density(std::hypot(h, 0.5 * s));
}

// Solves scaled_price(m, s) = price, or scaled_rest(m, s) = rest, both positive: Newton on the logarithm of
// the smaller one, in a variable that makes it nearly linear; bisection for steps out of the bracket.
double scaled_deviation(double m, double price, double rest) {
    const bool low = price <= rest;
    // Lower bounds of s: vega is at most 0.4, and at s = m / 40 the price is too small for a double.
    double below = std::max(price * std::sqrt(2 * std::numbers::pi), m / 40), above = 2 * below + 1;
    while (low ? scaled_price(m, above) < price : scaled_rest(m, above) > rest) above *= 2;
    double s = std::clamp(std::sqrt(2 * m), below, above);
    for (int step = 0; step < 200; ++step) {
        const double is = low ? scaled_price(m, s) : scaled_rest(m, s), wanted = low ? price : rest;
        if (is == wanted) return s;
        (is < wanted) == low ? below = s : above = s;
        double next = 0;
        if (is > 0) {
            const double miss = std::log(wanted / is), slope = scaled_vega(m, s) / is;
            if (low) {  // log price is nearly linear in 1 / s^2
                const double inverse_square = 1 / (s * s) - 2 * miss / (slope * s * s * s);
                next = inverse_square > 0 ? 1 / std::sqrt(inverse_square) : 0;
            } else {  // log rest is nearly linear in s^2
                const double square = s * s - 2 * s * miss / slope;
                next = square > 0 ? std::sqrt(square) : 0;
            }
        }
        if (!(next > below && next < above)) next = std::sqrt(below * above);
        if (std::abs(next - s) <= 2 * std::numeric_limits<double>::epsilon() * s) return next;
        s = next;
    }
    return s;
}

// The distance |log(forward / strike)|. For close numbers the difference is exact, while the quotient rounds.
double distance(double forward, double strike) {
    const double ratio = forward / strike;
    if (ratio > 0.5 && ratio < 2) return std::abs(std::log1p((forward - strike) / strike));
    return std::abs(std::log(forward) - std::log(strike));
}

double exercised(right option, double forward, double strike) {
    return std::max(option == right::call ? forward - strike : strike - forward, 0.0);
}

void need_positive(const char* name, double value) {
    if (value > 0 && std::isfinite(value)) return;
    throw error(error_kind::input, fmt::format("{} is {}; expected a number above 0", name, value));
}

}  // namespace

double black_price(right option, double forward, double strike, double deviation) {
    need_positive("the forward", forward);
    need_positive("the strike", strike);
    if (!(deviation >= 0) || !std::isfinite(deviation)) {
        throw error(error_kind::input, fmt::format("the deviation is {}; expected 0 or more", deviation));
    }
    return exercised(option, forward, strike) +
           std::sqrt(forward) * std::sqrt(strike) * scaled_price(distance(forward, strike), deviation);
}

double black_vega(double forward, double strike, double volatility, double years) {
    need_positive("the forward", forward);
    need_positive("the strike", strike);
    need_positive("the maturity", years);
    const double m = distance(forward, strike), s = volatility * std::sqrt(years);
    if (!(s > 0)) return m > 0 ? 0 : forward * std::sqrt(years) * normal_density(0);
    return std::sqrt(forward) * std::sqrt(strike) * std::sqrt(years) * scaled_vega(m, s);
}

double implied_volatility(right option, double forward, double strike, double years, double price) {
    need_positive("the forward", forward);
    need_positive("the strike", strike);
    need_positive("the maturity", years);
    const double least = exercised(option, forward, strike), most = option == right::call ? forward : strike;
    if (!(price >= least && price < most)) {
        throw error(error_kind::input,
                    fmt::format("no volatility gives the {} of strike {} on a forward of {} a price of {}; "
                                "expected {} or more and less than {}, before discounting",
                                option == right::call ? "call" : "put", strike, forward, price, least, most));
    }
    if (price == least) return 0;
    const double m = distance(forward, strike), unit = std::sqrt(forward) * std::sqrt(strike);
    return scaled_deviation(m, (price - least) / unit, (most - price) / unit) / std::sqrt(years);
}

}  // namespace tilewalk::analytics
