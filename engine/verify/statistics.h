// SPDX-License-Identifier: Apache-2.0
// Tests whether many errors, in standard errors, are due to chance alone. Every bound comes with its false
// alarm rate: how often an engine without a fault would miss it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tilewalk::verify {

// The mean x of n independent payoffs has the error t = (x - mean) / standard error. If payoffs have the
// skewness s, t is not standard normal: with a = s / sqrt(n) its mean is -a/2 and its third cumulant -2a,
// both to first order, because a sample with more of the long tail has both a larger mean and a larger
// standard error. Adding a/3 t^2 + a/6 removes both: the added mean is a/3 + a/6 = a/2, and a/3 t^2 adds 6
// a/3 = 2a to the third cumulant (Johnson 1978). The cubic term (Hall 1992) turns the sum into
// ((1 + a t / 3)^3 - 1) / a + a/6, which increases everywhere: a larger error never looks smaller. The
// remaining skew is of order a^2.
double without_skew(double t, double a);

// The size |Z| of a standard normal Z is above normal_bound() with probability `chance`. The mean of n
// squares of such variables is below `low` with half of that probability, and above `high` with the other
// half.
double normal_bound(double chance);
struct interval {
    double low = 0, high = 0;
};
interval mean_square_bounds(std::size_t n, double chance);

// The largest distance between the empirical distribution of z and the standard normal distribution.
double kolmogorov_distance(std::vector<double> z);

// Stands for z if the engine's value is not a number, or is wrong though it has no random error.
inline constexpr double farthest_z = 1000;

struct statistic {
    std::string name;
    double value = 0, centre = 0, low = 0, high = 0;
    double false_alarm = 0;  // probability that an engine without a fault is out of bounds

    bool holds() const { return value >= low && value <= high; }
    // Distance of the value from the centre, as a multiple of the bound's distance.
    double reach() const;
};

// The error of one trade; trades of a sample share no random numbers.
struct scored_trade {
    double z = 0;     // error in standard errors, corrected for skew
    double lean = 1;  // 1 if a higher forward makes the price higher, otherwise -1
};

// Probability of a false alarm: of each statistic over all trades, and of all rows' statistics together.
inline constexpr double alarm_of_each = 1e-5, alarm_of_rows = 5e-5;

// A trade that can be ended early: how far its lower and upper bound lie on the wrong side of the truth in
// standard errors, and on the right side as a fraction of the payoff's scale.
struct scored_bounds {
    double lower_z = farthest_z, upper_z = farthest_z;  // above 0 on the wrong side of the truth
    double truth = 0;
    double given_away = 0, lower_error = 0;  // truth less lower bound: lost by the policy
    double left_open = 0, upper_error = 0;   // upper bound less truth: left by the martingale
};

// Judges all trades: largest |z|, mean z, mean of z times lean, mean z squared, Kolmogorov-Smirnov.
std::vector<statistic> judge_all(std::span<const scored_trade> trades);
// Judges sensitivities of all rows in the same way. `any` is for the largest |z| and may share random
// numbers; `beyond_bias` has the errors beyond a known bias, which must not be larger than chance makes them.
std::vector<statistic> judge_all_sensitivities(std::span<const scored_trade> trades,
                                               std::span<const double> any,
                                               std::span<const double> beyond_bias);
// Judges one row out of `rows` by the three means of judge_all.
std::vector<statistic> judge_row(std::span<const scored_trade> trades, std::size_t rows);

// Limits, as fractions of the summed value of trades, on how much policies give away and martingales leave
// open.
inline constexpr double most_given_away = 0.015, most_left_open = 0.04;
// Judges bounds over all rows: the largest z, and the mean z of lower and of upper bounds, on the wrong side.
// A false alarm is less likely than false_alarm says, because a bound that is not sharp lies on the right
// side.
std::vector<statistic> judge_all_bounds(std::span<const scored_bounds> trades);
// Judges the bounds of one row out of `rows`: the two means, and the fractions of the truth given away and
// left open.
std::vector<statistic> judge_row_of_bounds(std::span<const scored_bounds> trades, std::size_t rows);

}  // namespace tilewalk::verify
