// SPDX-License-Identifier: Apache-2.0
// The likelihood ratio method: unbiased derivatives of means of payoffs that jump, from the derivative of a
// normal number's density.
//
// A move dx of a number moves what is compared at a jump by C_x dx. Moving the normal number z of the step
// before by -u dx, u = C_x / C_z, holds the comparison still, so the payoff does not jump. The density of z
// makes up for it:
//     d E[f] / dx = E[f_x - f_z u] + E[f (z u - du/dz)],    du/dz = C_xz / C_z - C_x C_zz / C_z^2,
// with f_x and f_z along the path. Subtracting a constant from f in the second mean does not change that mean
// and may reduce its noise. Jumps of later steps are held still by the normals of their own steps, after the
// moves of the earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

inline constexpr std::uint32_t no_slope = ~std::uint32_t{0};

// A less or less_equal comparison, with nodes that hold its difference (second - first operand) and the
// difference's derivatives with respect to the normal number.
struct scored_jump {
    jump at{};
    std::uint32_t difference = 0, slope = 0;
    std::uint32_t curvature = no_slope;  // the second derivative; no_slope if 0
};

// A path program that also carries derivatives of its states with respect to a normal number of the last
// step.
struct scored_program {
    path_program code;
    std::uint32_t normal = 0;  // slot of this normal number
    std::vector<scored_jump> jumps{};
    // By state: the state that holds its slope, the derivative with respect to the normal number; no_slope if
    // the slope is 0. Slopes have slopes.
    std::vector<std::uint32_t> slopes{};
    std::vector<bool> is_curvature{};  // by state: true if it holds a second derivative
};

// Empty if this normal number can't hold the jumps still: a jump does not move with the number, does not move
// smoothly with it, or is not a less or less_equal comparison.
std::optional<scored_program> scored_by(const path_program& p, const std::vector<jump>& jumps,
                                        std::uint32_t normal);

// Chooses the normal number that moves jumps most on some paths. Empty if each leaves some jump unmoved.
std::optional<scored_program> scored(const path_program& p, const path_data& data, const timeline& when,
                                     const std::vector<jump>& jumps);

// A normal number holds one jump still. Tests on some paths whether the same move also holds the other jumps
// of the step still, when the numbers of the trade move along `direction`.
bool stand_still_together(const scored_program& of, const path_data& data, const timeline& when,
                          const path_data& direction);

path_data data_of_scored(const scored_program& of, path_data data);

struct scored_adjoint {
    path_program forth;
    adjoint_program code;
};
// `wanted` may name states of the original program only.
scored_adjoint adjoint(const scored_program& p, const wanted_numbers& wanted, std::size_t output = 0);

}  // namespace tilewalk::program
