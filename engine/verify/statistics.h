// SPDX-License-Identifier: Apache-2.0
// Tests of whether many errors, measured in standard errors, are those of chance alone. Every bound comes
// with the frequency at which a sound engine misses it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tilewalk::verify {

// The mean x of n independent payoffs has the error t = (x - mean) / standard error. If payoffs have the
// skewness s, t is not standard normal: with a = s / sqrt(n) its mean is -a/2 and its third cumulant -2a,
// both to first order, because a sample that by chance has more of the long tail has at once a larger mean
// and a larger standard error. Adding a/3 t^2 + a/6 takes both away: its mean is a/3 + a/6 = a/2, and a/3 t^2
// adds 6 a/3 = 2a to the third cumulant (Johnson 1978). The cubic term (Hall 1992) makes a perfect cube of
// it, ((1 + a t / 3)^3 - 1) / a + a/6, which rises everywhere: a larger error never looks smaller. The
// remainder is of the order a^2.
double without_skew(double t, double a);

// Upper quantiles: what a standard normal number exceeds in size with this chance, and what the mean of n
// squares of such numbers falls below and exceeds with half of it each.
double normal_bound(double chance);
struct interval {
    double low = 0, high = 0;
};
interval mean_square_bounds(std::size_t n, double chance);

// The largest distance between the distribution of these numbers and the standard normal one.
double kolmogorov_distance(std::vector<double> z);

// A price, or a sensitivity, that is no number, or that has no error and is not the truth, is as far out as
// can be told.
inline constexpr double farthest_z = 1000;

struct statistic {
    std::string name;
    double value = 0, centre = 0, low = 0, high = 0;
    double false_alarm = 0;  // the chance that a sound engine misses the bounds

    bool holds() const { return value >= low && value <= high; }
    // The distance from the centre, the bound being 1.
    double reach() const;
};

// The errors of trades that share no random numbers.
struct scored_trade {
    double z = 0;     // without skew
    double lean = 1;  // 1 if a forward that is too high makes the price too high, -1 if too low
};

// Chances of a false alarm: of each statistic over all trades, and of all rows by product together.
inline constexpr double alarm_of_each = 1e-5, alarm_of_rows = 5e-5;

// A trade that can be ended early: how far its bounds lie on the wrong sides of the truth, in standard
// errors, and how far on the right ones, in parts of what is paid.
struct scored_bounds {
    double lower_z = farthest_z, upper_z = farthest_z;  // more than 0: on the wrong side
    double truth = 0;
    double given_away = 0, lower_error = 0;  // below the truth by the policy
    double left_open = 0, upper_error = 0;   // above it by the martingale
};

// Over all trades: largest |z|, mean z, mean z towards high forwards, mean z squared, Kolmogorov-Smirnov.
std::vector<statistic> judge_all(std::span<const scored_trade> trades);
// Over sensitivities: the same, but for the largest |z|, which is that of `any`, whatever they share. The
// errors beyond a bias that is known to be at most so large show that they are not larger than chance makes
// them.
std::vector<statistic> judge_all_sensitivities(std::span<const scored_trade> trades,
                                               std::span<const double> any,
                                               std::span<const double> beyond_bias);
// Over those of one row out of `rows`: the three means.
std::vector<statistic> judge_row(std::span<const scored_trade> trades, std::size_t rows);

// Policies give away at most so much of what trades are worth, in the mean, and martingales leave open.
inline constexpr double most_given_away = 0.015, most_left_open = 0.04;
// Over all trades that can be ended early: the largest z of a bound, and the mean z of lower and of upper
// bounds where it is on the wrong side. Chances are at most those told: bounds that are not sharp lie on the
// right side by more than chance.
std::vector<statistic> judge_all_bounds(std::span<const scored_bounds> trades);
// Over those of one row out of `rows`: the two means, and the parts of the truth that are given away and left
// open.
std::vector<statistic> judge_row_of_bounds(std::span<const scored_bounds> trades, std::size_t rows);

}  // namespace tilewalk::verify
