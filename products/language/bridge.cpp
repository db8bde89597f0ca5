// SPDX-License-Identifier: Apache-2.0
#include "products/language/bridge.h"

#include <array>
#include <initializer_list>
#include <numbers>

namespace tilewalk::language {

using program::value;

namespace {

// Least divisors: quotients stay finite if the variance is 0 or the path starts on the line. Valid in float.
constexpr double least_variance = 1e-36;
constexpr double least_distance = 1e-18;

// Two series give the probability of staying in a channel of width w. With q = variance / w^2, terms of the
// method of images decay like exp(-2 k (k - 1) / q), standing waves like exp(-n^2 pi^2 q / 2). At q =
// series_change_at, the error is below 1e-15 with two images on each side, and with four waves.
constexpr double series_change_at = 0.3;

// Survival by the method of images in two lines; a and b are the distances of the path's ends from the lower
// line. Shifted images are added, mirrored images subtracted. Five shifted and six mirrored images keep the
// sum symmetric in the two lines.
value survival_by_images(value a, value b, value width, value variance) {
    const auto shifted = [&](double k) {
        const value by = k * width;
        return exp(-2.0 * by * (by + b - a) / variance);
    };
    const auto mirrored = [&](double k) {
        const value by = k * width;
        return exp(-2.0 * (a + by) * (b + by) / variance);
    };
    value sum = 1.0 - mirrored(0);
    for (const double k : {1.0, 2.0}) {
        sum = sum + (shifted(-k) - mirrored(-k));
        sum = sum + (shifted(k) - mirrored(k));
    }
    return sum - mirrored(-3);
}

// Survival by standing waves sin(n pi x / width), each with its own decay, over the density without lines.
value survival_by_waves(value a, value b, value width, value variance) {
    const value angle_a = std::numbers::pi * a / width, angle_b = std::numbers::pi * b / width;
    const value q = variance / (width * width);
    const value decay = exp((-0.5 * std::numbers::pi * std::numbers::pi) * q);
    // By recurrence: sin((n + 1) x) = 2 cos(x) sin(n x) - sin((n - 1) x); decay^(n^2) by factors decay^(2n +
    // 1).
    const value twice_cos_a = 2.0 * cos(angle_a), twice_cos_b = 2.0 * cos(angle_b);
    value sin_a = sin(angle_a), sin_b = sin(angle_b);
    value last_a = a.home()->constant(0.0), last_b = last_a;
    value weight = decay, ratio = decay;
    const value decay_squared = decay * decay;
    value sum = weight * sin_a * sin_b;
    for (int n = 2; n <= 4; ++n) {
        const value next_a = twice_cos_a * sin_a - last_a, next_b = twice_cos_b * sin_b - last_b;
        last_a = sin_a;
        last_b = sin_b;
        sin_a = next_a;
        sin_b = next_b;
        ratio = ratio * decay_squared;
        weight = weight * ratio;
        sum = sum + weight * sin_a * sin_b;
    }
    const value move = b - a;
    return 2.0 * sqrt((2.0 * std::numbers::pi) * q) * exp(move * move / (2.0 * variance)) * sum;
}

value extreme(value start, value end, value variance, value uniform, double side) {
    const value move = end - start;
    const value reach = sqrt(move * move - 2.0 * variance * log(uniform));
    return 0.5 * (start + end + side * reach);
}

}  // namespace

value touch_probability(value at_start, value at_end, value variance) {
    return exp(-2.0 * max(at_start, 0.0) * max(at_end, 0.0) / max(variance, least_variance));
}

value exit_probability(const channel& within, value variance) {
    const value zero = variance.home()->constant(0.0);
    const value inside =
        zero < min(min(within.below_start, within.below_end), min(within.above_start, within.above_end));
    const value a = max(within.below_start, 0.0), b = max(within.below_end, 0.0);
    // The lines are equally far apart at both ends; the mean of the two widths keeps the formula symmetric.
    const value width =
        max(0.5 * (a + max(within.above_start, 0.0) + b + max(within.above_end, 0.0)), least_distance);
    // Each series gets a variance at which it converges, so the one that `select` drops stays finite.
    const value limit = series_change_at * width * width;
    const value images = survival_by_images(a, b, width, max(min(variance, limit), least_variance));
    const value waves = survival_by_waves(a, b, width, max(variance, limit));
    const value survival = select(variance < limit, images, waves);
    return select(inside, 1.0 - min(max(survival, 0.0), 1.0), zero + 1.0);
}

value sampled_lowest(value start, value end, value variance, value uniform) {
    return extreme(start, end, variance, uniform, -1.0);
}

value sampled_highest(value start, value end, value variance, value uniform) {
    return extreme(start, end, variance, uniform, 1.0);
}

// With a = distance at the start, b = |distance at the end| and t the fraction of the interval, the first
// touch has density ~ t^(-3/2) (1 - t)^(-1/2) exp(-a^2 / (2 v t) - b^2 / (2 v (1 - t))), on whichever side
// the path ends. So s = t / (1 - t) is inverse Gaussian with mean a / b and shape a^2 / v. Sampled after
// Michael, Schucany and Haas (1976), with the smaller root written as s = a / Q, so that nothing is
// subtracted and b = 0 needs no special case; the larger root is a Q / b^2.
value sampled_touch(value at_start, value at_end, value variance, value normal, value uniform) {
    const value a = max(at_start, least_distance);
    const value b = abs(at_end);
    const value c = normal * normal * variance / (2.0 * a);
    const value q = b + c + sqrt(c * (c + 2.0 * b));
    const value smaller = a / (a + q);
    const value scaled = a * q;
    const value larger = scaled / max(scaled + b * b, least_variance);
    const value touch = select(uniform * (q + b) <= q, smaller, larger);
    const value zero = normal.home()->constant(0.0);
    return select(at_start <= zero, zero, touch);
}

// After its first touch the path is a bridge from the line, or from its own start if that is beyond the line.
// In reversed time the last touch is the first touch of this bridge.
value sampled_last_touch(value at_start, value at_end, value variance, value first, value normal,
                         value uniform) {
    const value rest = 1.0 - first;
    const value back = sampled_touch(at_end, min(at_start, 0.0), variance * rest, normal, uniform);
    return first + rest * (1.0 - back);
}

value mean_between(value start, value end, value variance, const price_inside& price) {
    struct point {
        double at, weight;
    };
    constexpr std::array<point, 5> points{{{0.046910077030668, 0.11846344252809454},
                                           {0.23076534494715845, 0.23931433524968324},
                                           {0.5, 0.28444444444444444},
                                           {0.76923465505284155, 0.23931433524968324},
                                           {0.953089922969332, 0.11846344252809454}}};
    const value move = end - start;
    value sum;
    for (const point& p : points) {
        const value mean = start + p.at * move;
        const value part = p.weight * price(p.at, mean, (p.at * (1 - p.at)) * variance);
        sum = sum.valid() ? sum + part : part;
    }
    return sum;
}

value variance_of_mean(value variance) {
    return variance * (1.0 / 12);
}

// The covariance of the bridge at the fractions s and t is C = v (min(s, t) - s t). The variance is the
// integral over s and t of exp(m(s) + m(t)) (exp(C) - 1), with exp(m) the mean of the exponential.
value variance_of_mean_exponential(value start, value end, value variance) {
    const value move = end - start;
    return exp(start + end) * variance_of_mean(variance) *
           (1.0 + (4.0 / 15) * variance + (1.0 / 15) * (move * move));
}

namespace {

// 1 - sqrt(pi) x exp(x^2) erfc(x) for x >= 0, which falls from 1 like 1 / (2 x^2).
value remainder_of_scaled_erfc(value x) {
    // Below this argument use norm_cdf. Above, where the difference would lose digits, the remainder is below
    // 0.04, and the eighth convergent of a continued fraction in y = 1 / x^2 is within 3e-11.
    constexpr double change_at = 3.5;
    const value zero = x.home()->constant(0.0);
    const value small = min(x, change_at), large = max(x, change_at);
    const value by_tail = 1.0 - (2.0 / std::numbers::inv_sqrtpi) * small * exp(small * small) *
                                    norm_cdf(-std::numbers::sqrt2 * small);
    const value y = 1.0 / (large * large);
    const auto polynomial = [&](std::initializer_list<double> from_the_highest) {
        value sum;
        for (const double c : from_the_highest) sum = sum.valid() ? fma(sum, y, c) : zero + c;
        return sum;
    };
    const value above = polynomial({2027025.0 / 256, 7921305.0 / 128, 4845015.0 / 64, 1061235.0 / 32,
                                    105435.0 / 16, 5115.0 / 8, 117.0 / 4, 0.5});
    const value below = polynomial(
        {2027025.0 / 256, 2027025.0 / 16, 4729725.0 / 16, 945945.0 / 4, 675675.0 / 8, 15015, 1365, 60, 1});
    return select(x < x.home()->constant(change_at), by_tail, y * above / below);
}

struct time_above {
    value x, remainder;  // (|a| + |b|) / sqrt(2 variance), and remainder_of_scaled_erfc of it
    value likely;        // probability that the bridge touches the line
    value straight;      // fraction of a straight path above the line
};

time_above time_above_of(value at_start, value at_end, value some) {
    const value zero = at_start.home()->constant(0.0);
    const value x = (abs(at_start) + abs(at_end)) / sqrt(2.0 * some);
    const value remainder = remainder_of_scaled_erfc(x);
    const value likely = exp(-2.0 * max(at_start * at_end, 0.0) / some);
    const value above = max(max(at_start, at_end), 0.0), below = max(zero - min(at_start, at_end), 0.0);
    return {x, remainder, likely, above / max(above + below, least_distance)};
}

}  // namespace

// The mean local time of the bridge at a line a from its start and b from its end is, over its variance v,
// sqrt(pi / (2 v)) exp((a - b)^2 / (2 v)) erfc(x) with x = (|a| + |b|) / sqrt(2 v), the inverse transform of
// a product of two first-passage transforms. Integrated over all higher lines, it is q / 2 + (1 - q) p, with
// r = remainder_of_scaled_erfc(x), q = r * (probability of a touch), and p the fraction of a straight path
// above the line. The formula has no comparison, which would count as a jump of the payoff.
value share_above(value at_start, value at_end, value variance) {
    const time_above is = time_above_of(at_start, at_end, max(variance, least_variance));
    const value touched = is.remainder * is.likely;
    return 0.5 * touched + (1.0 - touched) * is.straight;
}

// Let D be the fraction of the interval from the first touch to the last, given a touch. With r and x as in
// share_above, D has mean r and mean square r (3 / 2 + x^2) - 1 / 2: its transform is that of a first passage
// over |a| + |b| times that of a return. A uniform part of D is above the line. With ends on different sides,
// the times before the first touch and after the last have a product of mean |a b| r / v.
value variance_of_share_above(value at_start, value at_end, value variance) {
    const value some = max(variance, least_variance);
    const time_above is = time_above_of(at_start, at_end, some);
    const value touched = is.remainder * is.likely, rest = 1.0 - touched;
    const value square = is.remainder * (1.5 + is.x * is.x) - 0.5;
    const value across = max(-(at_start * at_end), 0.0) / some;
    const value straight = rest * rest * is.straight * (1.0 - is.straight) - across * is.remainder;
    return max(straight + ((1.0 / 3) * is.likely * square - 0.25 * (touched * touched)), 0.0);
}

// Before the first touch the path is on the side of its start, after the last one on the side of its end.
// Between them it is a bridge from the line to the line, whose share of time above is uniform (Levy 1939).
value sampled_share_above(value at_start, value at_end, value variance, const share_shocks& shocks) {
    const value zero = at_start.home()->constant(0.0), one = zero + 1.0;
    const value a = abs(at_start), b = abs(at_end);
    const value likely = exp(-2.0 * max(at_start * at_end, 0.0) / max(variance, least_variance));
    const value first = sampled_touch(a, b, variance, shocks.first_normal, shocks.first_uniform);
    const value last = sampled_last_touch(a, b, variance, first, shocks.last_normal, shocks.between);
    const value before = select(zero < at_start, first, zero),
                after = select(zero < at_end, 1.0 - last, zero);
    const value touched = before + shocks.between * (last - first) + after;
    return select(shocks.touch < likely, touched, select(zero < at_start, one, zero));
}

}  // namespace tilewalk::language
