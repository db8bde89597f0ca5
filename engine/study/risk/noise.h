// SPDX-License-Identifier: Apache-2.0
// The error that paths leave in a tail of gains, by half-samples of the parts of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/study/risk/tails.h"

namespace tilewalk::risk {

// Returns each part's share of the run's paths; equal shares if their numbers are unknown.
std::vector<double> shares_of_parts(std::size_t parts, std::uint64_t part_paths, std::uint64_t run_paths);

struct noise_errors {
    double quantile = 0, shortfall = 0;
};
// Returns standard errors of the tails that `find` finds, by its places. The mean gains of the parts in
// scenario s begin at s * shares.size(). A tail is no smooth function of gains, since the quantile goes from
// one scenario to the next. The error is thus probed with moves as large as the gains' errors, not with a
// fraction (leaving out a part) or a multiple (the tail of each part): every part's difference from the mean
// is added or subtracted, by signs of a Hadamard matrix (McCarthy 1969, balanced half-samples). If one
// scenario is the quantile for all signs, the error is that of its gain by run::error_of_parts, to the last
// digits. Over 1,000 runs of 64 parts, 250 normal gains and independent noise as large as their distance at
// the level 5 %, the error is 1.16 times the true spread; leaving out a part would give 1.56 times, tails of
// parts 0.45 times. All are within 0.03 of it if nine tenths of the noise are common to all gains.
std::vector<noise_errors> noise_errors_of(std::span<const double> gains, std::span<const double> means,
                                          std::span<const double> shares, tail_finder& find);

}  // namespace tilewalk::risk
