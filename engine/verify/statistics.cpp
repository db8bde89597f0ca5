// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tilewalk::verify {

namespace {

double upper_tail(double x) {
    return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

template <class F>
double crossing(const F& falling, double level, double low, double high) {
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        (falling(middle) > level ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

// P(gamma variable of shape `a` > x): by power series for small x, by continued fraction (Lentz) for large x.
double gamma_tail(double a, double x) {
    if (x <= 0) return 1;
    const double scale = std::exp(a * std::log(x) - x - std::lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (double k = a + 1; term > sum * 1e-16; ++k) sum += term *= x / k;
        return 1 - scale * sum;
    }
    constexpr double least = 1e-300;
    double b = x + 1 - a, c = 1 / least, d = 1 / b, fraction = d;
    for (int i = 1; i < 100000; ++i) {
        const double over = i * (a - i);
        b += 2;
        d = over * d + b;
        c = b + over / c;
        if (std::abs(d) < least) d = least;
        if (std::abs(c) < least) c = least;
        d = 1 / d;
        fraction *= d * c;
        if (std::abs(d * c - 1) < 1e-15) break;
    }
    return scale * fraction;
}

statistic mean_z(std::span<const scored_trade> trades, double chance) {
    const double n = static_cast<double>(trades.size());
    double sum = 0;
    for (const scored_trade& t : trades) sum += t.z;
    const double bound = normal_bound(chance) / std::sqrt(n);
    return {"mean z", sum / n, 0, -bound, bound, chance};
}

statistic leaning_z(std::span<const scored_trade> trades, double chance) {
    const double n = static_cast<double>(trades.size());
    double sum = 0;
    for (const scored_trade& t : trades) sum += t.lean * t.z;
    const double bound = normal_bound(chance) / std::sqrt(n);
    return {"leaning z", sum / n, 0, -bound, bound, chance};
}

statistic mean_square(std::span<const scored_trade> trades, double chance) {
    double sum = 0;
    for (const scored_trade& t : trades) sum += t.z * t.z;
    const interval within = mean_square_bounds(trades.size(), chance);
    return {"mean z squared", sum / static_cast<double>(trades.size()), 1, within.low, within.high, chance};
}

std::vector<double> z_of(std::span<const scored_trade> trades) {
    std::vector<double> z;
    for (const scored_trade& t : trades) z.push_back(t.z);
    return z;
}

statistic largest_z(std::span<const double> all) {
    double largest = 0;
    for (const double z : all) largest = std::max(largest, std::abs(z));
    const double bound = normal_bound(alarm_of_each / static_cast<double>(all.size()));
    return {"largest |z|", largest, 0, 0, bound, alarm_of_each};
}

statistic distance_from_normal(std::vector<double> z) {
    // For any n, a sample of the right distribution has a distance above e with probability at most 2 exp(-2
    // n e^2) (Massart 1990).
    const double n = static_cast<double>(z.size());
    const double farthest = std::sqrt(std::log(2 / alarm_of_each) / (2 * n));
    return {"Kolmogorov-Smirnov", kolmogorov_distance(std::move(z)), 0, 0, farthest, alarm_of_each};
}

// The mean z on the wrong side of the truth. Below 0, on the right side, it counts as 0, however far.
statistic mean_beyond(const std::string& name, std::span<const scored_bounds> trades,
                      double scored_bounds::*z, double chance) {
    const double n = static_cast<double>(trades.size());
    double sum = 0;
    for (const scored_bounds& t : trades) sum += t.*z;
    return {name, std::max(sum / n, 0.0), 0, 0, normal_bound(2 * chance) / std::sqrt(n), chance};
}

// A fraction of the summed value of all trades, with the largest fraction that is allowed as its bound.
statistic part_of_truth(const std::string& name, std::span<const scored_bounds> trades,
                        double scored_bounds::*part, double scored_bounds::*error, double most,
                        double chance) {
    double sum = 0, variance = 0, truth = 0;
    for (const scored_bounds& t : trades) {
        sum += t.*part;
        variance += t.*error * (t.*error);
        truth += std::abs(t.truth);
    }
    if (!(truth > 0)) return {name, farthest_z, 0, 0, most, chance};
    return {name,
            std::max(sum / truth, 0.0),
            0,
            0,
            most + normal_bound(2 * chance) * std::sqrt(variance) / truth,
            chance};
}

}  // namespace

double without_skew(double t, double a) {
    return t + a / 3 * t * t + a * a / 27 * t * t * t + a / 6;
}

double normal_bound(double chance) {
    return crossing(upper_tail, 0.5 * chance, 0, 38);
}

interval mean_square_bounds(std::size_t n, double chance) {
    const double half = 0.5 * static_cast<double>(n);
    const auto tail = [&](double mean) { return gamma_tail(half, half * mean); };
    const double most = 2000;  // above the bound for n = 1, which is the widest
    return {crossing(tail, 1 - 0.5 * chance, 0, most), crossing(tail, 0.5 * chance, 0, most)};
}

double kolmogorov_distance(std::vector<double> z) {
    std::sort(z.begin(), z.end());
    const double n = static_cast<double>(z.size());
    double distance = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double below = upper_tail(-z[i]), at = static_cast<double>(i);
        distance = std::max({distance, below - at / n, (at + 1) / n - below});
    }
    return distance;
}

double statistic::reach() const {
    return (value - centre) / ((value < centre ? low : high) - centre);
}

std::vector<statistic> judge_all(std::span<const scored_trade> trades) {
    return {largest_z(z_of(trades)), mean_z(trades, alarm_of_each), leaning_z(trades, alarm_of_each),
            mean_square(trades, alarm_of_each), distance_from_normal(z_of(trades))};
}

std::vector<statistic> judge_all_sensitivities(std::span<const scored_trade> trades,
                                               std::span<const double> any,
                                               std::span<const double> beyond_bias) {
    std::vector<statistic> out;
    if (!any.empty()) out.push_back(largest_z(any));
    if (!trades.empty()) {
        const std::vector<statistic> means = judge_all(trades);
        out.insert(out.end(), means.begin() + 1, means.end());
    }
    if (!beyond_bias.empty()) {
        double sum = 0;
        for (const double z : beyond_bias) sum += z * z;
        const double n = static_cast<double>(beyond_bias.size());
        // mean_square_bounds spends half of `chance` on each side; here the upper side alone has all.
        const double most = mean_square_bounds(beyond_bias.size(), 2 * alarm_of_each).high;
        out.push_back({"mean z squared beyond bias", sum / n, 0, 0, most, alarm_of_each});
    }
    return out;
}

std::vector<statistic> judge_row(std::span<const scored_trade> trades, std::size_t rows) {
    const double chance = alarm_of_rows / (3 * static_cast<double>(rows));
    return {mean_z(trades, chance), leaning_z(trades, chance), mean_square(trades, chance)};
}

std::vector<statistic> judge_all_bounds(std::span<const scored_bounds> trades) {
    double largest = 0;
    for (const scored_bounds& t : trades) largest = std::max({largest, t.lower_z, t.upper_z});
    const double n = static_cast<double>(trades.size());
    return {{"largest z of a bound", largest, 0, 0, normal_bound(alarm_of_each / n), alarm_of_each},
            mean_beyond("mean z of lower bounds", trades, &scored_bounds::lower_z, alarm_of_each),
            mean_beyond("mean z of upper bounds", trades, &scored_bounds::upper_z, alarm_of_each)};
}

std::vector<statistic> judge_row_of_bounds(std::span<const scored_bounds> trades, std::size_t rows) {
    const double chance = alarm_of_rows / (4 * static_cast<double>(rows));
    return {mean_beyond("mean z of lower bounds", trades, &scored_bounds::lower_z, chance),
            mean_beyond("mean z of upper bounds", trades, &scored_bounds::upper_z, chance),
            part_of_truth("given away", trades, &scored_bounds::given_away, &scored_bounds::lower_error,
                          most_given_away, chance),
            part_of_truth("left open", trades, &scored_bounds::left_open, &scored_bounds::upper_error,
                          most_left_open, chance)};
}

}  // namespace tilewalk::verify
