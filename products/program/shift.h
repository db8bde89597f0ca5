// SPDX-License-Identifier: Apache-2.0
// Importance sampling: the paths of a program with shifted normals, each with a weight that takes the shift
// out of every mean again. A share of the paths keep their normals, so that no weight is above one over that
// share, whatever the shifts.
#pragma once

#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// Shifts of a share of the other paths.
struct normal_shift {
    std::vector<std::vector<double>> by_slot;  // [slot][step]
    double share = 1;
};

struct normal_shifts {
    std::vector<normal_shift> ways;  // shares add up to 1
    double unshifted = 0.1;          // the share of paths that keep their normals
    // The part of an output that is multiplied by no weight, since it needs no path to be known.
    double centre = 0;
};

// Each path draws a number that decides by which of the shifts its normals z go to z + s, or that they stay.
// With the sum r of s * z - s^2 / 2 over the normals as the path has them, for each of the shifts, its weight
// is
//     1 / (unshifted + (1 - unshifted) * sum of share * exp(r)),
// the density of normals over that of the mixture. An output becomes centre + weight * (output - centre), in
// a section that runs last. Shifts, shares and centre are data: trades of one shape and as many shifts keep
// sharing a program. The timeline has a step at least, and no path is walked back.
whole_program shifted(const path_program& p, const path_data& data, const timeline& when,
                      const normal_shifts& by);

}  // namespace tilewalk::program
