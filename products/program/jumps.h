// SPDX-License-Identifier: Apache-2.0
// Jumps: comparisons, floors and conditions at which a later number jumps. Derivatives along the path miss
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

// Returns discontinuous comparisons, floors, and numbers used as conditions. A comparison is continuous if
// every `select` that its truth decides has equal sides where the compared numbers are equal, which is tried
// on some paths. Decisions of a policy are no jumps: both alternatives are worth the same there.
std::vector<jump> jumps_of(const path_program& p, const path_data& data, const timeline& when);

// Returns the jumps whose place on a path depends on the wanted numbers.
std::vector<jump> moved_by(const path_program& p, const std::vector<jump>& all, const wanted_numbers& wanted);

// Returns the less and less_equal comparisons in whose truth the payoff is linear. Tries truths between 0 and
// 1 on some paths; leaves out a comparison whose truth never mattered.
std::vector<jump> smoothable(const path_program& p, const path_data& data, const timeline& when,
                             const std::vector<jump>& all);

// The largest step of the first output at a jump, found by moving all shocks of one path evenly to those of
// another until it crosses the jump. Tried on several pairs for each jump. Close to 0 if comparisons only
// choose between formulas that agree. Empty if some jump was never crossed.
std::optional<double> largest_step(const path_program& p, const path_data& data, const timeline& when,
                                   const std::vector<jump>& jumps);

// Widths of the smoothed comparisons for a run of `paths` paths, from the spread of the compared difference
// on some paths, by the rule for density estimates without second-order bias.
smoothing widths_for(const path_program& p, const path_data& data, const timeline& when,
                     const std::vector<jump>& smoothed, std::uint64_t paths);

}  // namespace tilewalk::program
