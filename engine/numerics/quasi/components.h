// SPDX-License-Identifier: Apache-2.0
// Principal components: independent numbers, a few of which make most of the variation of many correlated
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::quasi {

struct principal_axes {
    std::vector<double> variances;   // largest first
    std::vector<double> directions;  // [row][component], of length 1; signs make each component's sum >= 0
};
principal_axes axes_of_brownian_path(std::span<const double> times);

// Slot slots[a] gets the sum over j of rotation[a * slots.size() + j] times the number drawn for slots[j].
struct rotated_slots {
    std::vector<std::uint32_t> slots;
    std::vector<double> rotation;
    std::vector<double> variances;  // by component, largest first; their mean is 1
};
// Rotates slots that sums of a step combine to their principal components. Empty if there are none, or too
// many.
rotated_slots rotated_by_covariance(const program::path_program& code, const program::path_data& data);

}  // namespace tilewalk::quasi
