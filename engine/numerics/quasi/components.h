// SPDX-License-Identifier: Apache-2.0
// Principal components: independent numbers of which a few make most of what varies together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::quasi {

struct principal_axes {
    std::vector<double> variances;   // largest first
    std::vector<double> directions;  // [row][component], of length 1; each sums up to no less than 0
};
// The axes of a Brownian path on these days, which grow.
principal_axes axes_of_brownian_path(std::span<const double> times);

// Numbers of some slots of a step are sums of independent ones: that of slots[a] is the sum of
// rotation[a * slots.size() + j] times what slots[j] would have.
struct rotated_slots {
    std::vector<std::uint32_t> slots;
    std::vector<double> rotation;
    std::vector<double> variances;  // by component, largest first; their mean is 1
};
// Slots of normals that move something together, rotated to the principal components of what they move over
// all steps; none if there are no such, or very many.
rotated_slots rotated_by_covariance(const program::path_program& code, const program::path_data& data);

}  // namespace tilewalk::quasi
