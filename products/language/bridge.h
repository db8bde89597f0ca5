// SPDX-License-Identifier: Apache-2.0
// Brownian bridges between two known ends: probabilities and times of touches, extremes, means. Distances and
// variances are in the coordinate in which the path is a Brownian bridge, such as the logarithm of a price.
#pragma once

#include <functional>

#include "products/program/recorder.h"

namespace tilewalk::language {

// Probability that the bridge touches a straight line. `at_start` and `at_end` are the distances of its ends
// from the line, positive on the side where it has not been touched. Exact; 1 if a distance is 0 or negative.
program::value touch_probability(program::value at_start, program::value at_end, program::value variance);

// Distances of the path's two ends from the lower and the upper line of a channel; positive inside.
struct channel {
    program::value below_start, below_end;  // from the lower line up to the path
    program::value above_start, above_end;  // from the path up to the upper line
};
// Probability that the bridge leaves the channel. Error below 1e-13; 1 if either end is not inside.
program::value exit_probability(const channel& within, program::value variance);

// Samples of the lowest and highest point of the bridge, from a uniform number in (0, 1).
program::value sampled_lowest(program::value start, program::value end, program::value variance,
                              program::value uniform);
program::value sampled_highest(program::value start, program::value end, program::value variance,
                               program::value uniform);

// A sample of the first time that the bridge touches a line, given that it does, as a fraction of the
// interval. `normal` is standard normal, `uniform` from (0, 1). 0 if the start is on or beyond the line.
program::value sampled_touch(program::value at_start, program::value at_end, program::value variance,
                             program::value normal, program::value uniform);

// A sample of the last time that the bridge is on or beyond the line, given its first touch at the fraction
// `first` (0 if the start is on or beyond the line). If `first` is a sample too, both are a joint sample. 1
// if the end is on or beyond the line.
program::value sampled_last_touch(program::value at_start, program::value at_end, program::value variance,
                                  program::value first, program::value normal, program::value uniform);

// The mean of a price over the interval, by five-point Gauss-Legendre quadrature. `price` returns the mean
// price at a fraction of the interval, given the normal coordinate's mean and variance. With d the move of a
// logarithm and v its variance, the relative error is < 1e-12 for |d|, v <= 0.3, < 4e-8 for |d|, v <= 1.
using price_inside =
    std::function<program::value(double fraction, program::value mean, program::value variance)>;
program::value mean_between(program::value start, program::value end, program::value variance,
                            const price_inside& price);

// The variance of the bridge's mean over the interval, and that of the mean of its exponential. The latter is
// a series in the variance v and the squared move d^2, truncated with an error below 0.1 (v + d^2)^2.
program::value variance_of_mean(program::value variance);
program::value variance_of_mean_exponential(program::value start, program::value end,
                                            program::value variance);

// Mean fraction of the interval that the bridge spends above a straight line. `at_start` and `at_end` are
// positive above the line. Error below 1e-12. Negate both for the mean fraction below the line.
program::value share_above(program::value at_start, program::value at_end, program::value variance);
// The variance of the fraction above the line, which is also that of the fraction below. Error below 1e-9.
program::value variance_of_share_above(program::value at_start, program::value at_end,
                                       program::value variance);

struct share_shocks {
    program::value touch, first_normal, first_uniform, last_normal, between;
};
program::value sampled_share_above(program::value at_start, program::value at_end, program::value variance,
                                   const share_shocks& shocks);

}  // namespace tilewalk::language
