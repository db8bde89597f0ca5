// SPDX-License-Identifier: Apache-2.0
// Jumps: comparisons and floors at which the numbers that a path goes on with jump, so that the derivative
// along the path misses what happens where the numbers cross.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

// A comparison is continuous if every `select` that its truth decides, by itself or through other truths, has
// equal sides where the compared numbers are equal. This is tried on some paths, with one of the two numbers
// put in the place of the other; a comparison for which nothing could be tried counts as a jump.
// The decisions of a policy are none: nobody gains, to the first order, by another decision where both are
// worth the same.
std::vector<jump> jumps_of(const path_program& p, const path_data& data, const timeline& when);

// The jumps that move with the wanted numbers: the others are where they are, whatever these numbers.
std::vector<jump> moved_by(const path_program& p, const std::vector<jump>& all, const wanted_numbers& wanted);

// The jumps that can be smoothed: comparisons of which one is less than the other, where the payoff is linear
// in their truth. This is tried on some paths, with truths between 0 and 1; a comparison with no truth that
// counted on any of these can't be.
std::vector<jump> smoothable(const path_program& p, const path_data& data, const timeline& when,
                             const std::vector<jump>& all);

// The largest step of the first output where a path is bent into another, number by number and at one rate,
// until it crosses a jump: on some pairs of paths, several times at each jump. It is next to nothing where a
// comparison only chooses between formulas that agree. Empty if no pair crossed one of the jumps.
std::optional<double> largest_step(const path_program& p, const path_data& data, const timeline& when,
                                   const std::vector<jump>& jumps);

// Widths for a run of so many paths, from what the two compared numbers are apart on some paths: by the rule
// for densities that are estimated without a second-order bias.
smoothing widths_for(const path_program& p, const path_data& data, const timeline& when,
                     const std::vector<jump>& smoothed, std::uint64_t paths);

}  // namespace tilewalk::program
