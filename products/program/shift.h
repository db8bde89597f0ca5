// SPDX-License-Identifier: Apache-2.0
// Importance sampling: paths with shifted normals, weighted so that no mean changes. A share of the paths
// keeps its normals, which bounds every weight by one over that share.
#pragma once

#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// A shift, and its share among the shifted paths.
struct normal_shift {
    std::vector<std::vector<double>> by_slot;  // [slot][step]
    double share = 1;
};

struct normal_shifts {
    std::vector<normal_shift> ways;  // the shifts; their shares add up to 1
    double unshifted = 0.1;          // the share of paths that keep their normals
    // The constant part of an output, which is not multiplied by the weight.
    double centre = 0;
};

// A path draws whether its normals z become z + s, and for which shift s. For each shift, r is the sum of s *
// z - s^2 / 2 over the path's final normals z. The path's weight is
//     1 / (unshifted + (1 - unshifted) * sum of share * exp(r)),
// the density of unshifted normals over that of the mixture. An output becomes centre + weight * (output -
// centre), in a section that runs last. Shifts, shares and centre are data, so trades of one shape and as
// many shifts share a program. The timeline must have a step. The result has no way back.
whole_program shifted(const path_program& p, const path_data& data, const timeline& when,
                      const normal_shifts& by);

}  // namespace tilewalk::program
