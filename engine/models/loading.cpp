// SPDX-License-Identifier: Apache-2.0
#include "engine/models/loading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/math.h"

namespace tilewalk::models {

namespace {

using markets::volatility;

// Eight-point Gauss-Legendre: positive terms lose no digits for a slow decay, unlike a closed form.
struct point {
    double at, weight;
};
constexpr std::array<point, 4> half_rule{{{0.1834346424956498, 0.3626837833783620},
                                          {0.5255324099163290, 0.3137066458778873},
                                          {0.7966664774136267, 0.2223810344533745},
                                          {0.9602898564975363, 0.1012285362903763}}};

// Largest decay times length of a piece for which eight points are exact to rounding.
constexpr double most_decay = 2;

double integral(const loading& a, const loading& b, double longest_left, double length) {
    const double pieces = std::max(1.0, std::ceil((a.decay + b.decay) * length / most_decay));
    const double half = 0.5 * length / pieces;
    double sum = 0;
    for (double piece = 0; piece < pieces; ++piece) {
        const double middle = longest_left - (2 * piece + 1) * half;
        for (const point& p : half_rule) {
            const double early = middle + p.at * half, late = middle - p.at * half;
            sum += p.weight * half * (a.at(early) * b.at(early) + a.at(late) * b.at(late));
        }
    }
    return sum;
}

}  // namespace

double integrated_decay(double decay, double years) {
    const double z = decay * years;
    if (std::abs(z) > 0.02) return (1 - kernels::exp(-z)) / decay;
    // The next term of this series is below 1e-15.
    double sum = 1;
    for (double k = 7; k >= 2; --k) sum = 1 - z / k * sum;
    return years * sum;
}

double loading::at(double left) const {
    switch (is) {
        case shape::decaying:
            return kernels::exp(-decay * left);
        case shape::integrated:
            return integrated_decay(decay, left);
        default:
            return 1;
    }
}

double covariance(const volatility& one, const loading& by_one, const volatility& other,
                  const loading& by_other, double from, double to) {
    if (by_one.is == loading::shape::constant && by_other.is == loading::shape::constant)
        return volatility::covariance(one, other, from, to);
    double sum = 0;
    for (double at = from; at < to;) {
        double end = to;
        for (const volatility* v : {&one, &other}) {
            const auto next = std::ranges::upper_bound(v->pillars(), at);
            if (next != v->pillars().end()) end = std::min(end, *next);
        }
        const double scale = one.instantaneous(at) * other.instantaneous(at);
        if (scale != 0) sum += scale * integral(by_one, by_other, to - at, end - at);
        at = end;
    }
    return sum;
}

}  // namespace tilewalk::models
