// SPDX-License-Identifier: Apache-2.0
// Tests whether many errors, in standard errors, are due to chance alone. Every bound comes with the
// frequency at which a sound engine misses it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tilewalk::verify {

// The mean x of n independent payoffs has the error t = (x - mean) / standard error. If payoffs have the
// skewness s, t is not standard normal: with a = s / sqrt(n) its mean is -a/2 and its third cumulant -2a,
// both to first order, because a sample with more of the long tail has both a larger mean and a larger
// standard error. Adding a/3 t^2 + a/6 removes both: its mean is a/3 + a/6 = a/2, and a/3 t^2 adds 6 a/3 = 2a
// to the third cumulant (Johnson 1978). The cubic term (Hall 1992) makes it a perfect cube, ((1 + a t / 3)^3
// - 1) / a + a/6, which increases everywhere: a larger error never looks smaller. The remainder is of the
// order a^2.
double without_skew(double t, double a);

// Quantiles: a standard normal variable exceeds the bound in size with probability `chance`; the mean of n
// squares of such variables falls below or exceeds its bounds with half of it each.
double normal_bound(double chance);
struct interval {
    double low = 0, high = 0;
};
interval mean_square_bounds(std::size_t n, double chance);

// The largest distance between the distribution of these numbers and the standard normal one.
double kolmogorov_distance(std::vector<double> z);

// The z of a value that is no number, or that is wrong and has no error.
inline constexpr double farthest_z = 1000;

struct statistic {
    std::string name;
    double value = 0, centre = 0, low = 0, high = 0;
    double false_alarm = 0;  // the probability that a sound engine misses the bounds

    bool holds() const { return value >= low && value <= high; }
    // The distance from the centre, in units of the bound.
    double reach() const;
};

// The error of a trade that shares no random numbers with the others.
struct scored_trade {
    double z = 0;     // without skew
    double lean = 1;  // 1 if a forward that is too high makes the price too high, -1 if too low
};

// Probabilities of a false alarm: of each statistic over all trades, and of all rows by product together.
inline constexpr double alarm_of_each = 1e-5, alarm_of_rows = 5e-5;

// Bounds of a trade that can be ended early: their distance on the wrong side of the truth in standard
// errors, and on the right side as a fraction of the payoff's scale.
struct scored_bounds {
    double lower_z = farthest_z, upper_z = farthest_z;  // positive on the wrong side
    double truth = 0;
    double given_away = 0, lower_error = 0;  // by the policy, below the truth
    double left_open = 0, upper_error = 0;   // by the martingale, above the truth
};

// Over all trades: largest |z|, mean z, mean z towards high forwards, mean z squared, Kolmogorov-Smirnov.
std::vector<statistic> judge_all(std::span<const scored_trade> trades);
// The same statistics over sensitivities. The largest |z| is taken over `any`, which may share random
// numbers. Errors beyond a known bound of the bias must not be larger than chance makes them.
std::vector<statistic> judge_all_sensitivities(std::span<const scored_trade> trades,
                                               std::span<const double> any,
                                               std::span<const double> beyond_bias);
// The three means, over the trades of one row out of `rows`.
std::vector<statistic> judge_row(std::span<const scored_trade> trades, std::size_t rows);

// The largest mean fractions of the value of trades that policies may give away and martingales may leave
// open.
inline constexpr double most_given_away = 0.015, most_left_open = 0.04;
// Over all trades that can be ended early: the largest z of a bound, and the mean z of lower and upper bounds
// on the wrong side. The probabilities of a false alarm are upper bounds, because bounds that are not sharp
// lie on the right side.
std::vector<statistic> judge_all_bounds(std::span<const scored_bounds> trades);
// Over the trades of one row out of `rows`: the two means, and the fractions of the truth given away and left
// open.
std::vector<statistic> judge_row_of_bounds(std::span<const scored_bounds> trades, std::size_t rows);

}  // namespace tilewalk::verify
