// SPDX-License-Identifier: Apache-2.0
// Brownian bridges between two known ends: probabilities and times of touches, extremes, means. Distances and
// variance are in the coordinate in which the path is a bridge.
#pragma once

#include <functional>

#include "products/program/recorder.h"

namespace tilewalk::language {

// Probability that the bridge touches a straight line at distance `at_start` and `at_end` (positive: not yet
// reached). Exact; 1 if either end is on or beyond the line.
program::value touch_probability(program::value at_start, program::value at_end, program::value variance);

// Distances of the two ends from the lines of a channel; positive inside.
struct channel {
    program::value below_start, below_end;  // from the lower line up to the path
    program::value above_start, above_end;  // from the path up to the upper line
};
// Probability of leaving a channel of parallel lines. Error below 1e-13; 1 if either end is outside.
program::value exit_probability(const channel& within, program::value variance);

// Samples of the lowest and highest point of the bridge, from a uniform number in (0, 1).
program::value sampled_lowest(program::value start, program::value end, program::value variance,
                              program::value uniform);
program::value sampled_highest(program::value start, program::value end, program::value variance,
                               program::value uniform);

// A sample of the first touch of a line as a fraction of the interval, given a touch; from a standard normal
// and a uniform number. 0 if the start is on or beyond the line.
program::value sampled_touch(program::value at_start, program::value at_end, program::value variance,
                             program::value normal, program::value uniform);

// A sample of the last moment on or beyond the line, given the first touch at the fraction `first` (0 if the
// start is on or beyond it). A joint sample if `first` is one. 1 if the end is on or beyond the line.
program::value sampled_last_touch(program::value at_start, program::value at_end, program::value variance,
                                  program::value first, program::value normal, program::value uniform);

// The mean of a price over the interval. `price` gives the mean price at a fraction of the interval, where
// the coordinate is normal with this mean and variance. Five-point Gauss-Legendre quadrature: with d the move
// of a logarithm and v its variance, the relative error is < 1e-12 for |d|, v <= 0.3, < 4e-8 for |d|, v <= 1.
using price_inside =
    std::function<program::value(double fraction, program::value mean, program::value variance)>;
program::value mean_between(program::value start, program::value end, program::value variance,
                            const price_inside& price);

// The variance of the mean of the bridge over the interval, and of the mean of its exponential. The latter is
// a truncated series in the variance v and the squared move d^2, with error below 0.1 (v + d^2)^2.
program::value variance_of_mean(program::value variance);
program::value variance_of_mean_exponential(program::value start, program::value end,
                                            program::value variance);

// Mean fraction of the interval that the bridge spends above a straight line; distances are positive above
// it. Error below 1e-12. Negate both distances for the fraction below.
program::value share_above(program::value at_start, program::value at_end, program::value variance);
// The variance of that fraction, on either side. Error below 1e-9.
program::value variance_of_share_above(program::value at_start, program::value at_end,
                                       program::value variance);

struct share_shocks {
    program::value touch, first_normal, first_uniform, last_normal, between;
};
program::value sampled_share_above(program::value at_start, program::value at_end, program::value variance,
                                   const share_shocks& shocks);

}  // namespace tilewalk::language
