// SPDX-License-Identifier: Apache-2.0
// The likelihood ratio: derivatives of mean payoffs that jump, with no bias, from how the density of a normal
// number changes.
//
// A move dx of a number moves what is compared at a jump by C_x dx. The normal number z of the step
// before is moved along by -u dx, u = C_x / C_z, so that the comparison stands still and the payoff does not
// jump. The density of z makes up for it:
//     d E[f] / dx = E[f_x - f_z u] + E[f (z u - du/dz)],    du/dz = C_xz / C_z - C_x C_zz / C_z^2,
// with f_x and f_z along the path. A number taken from f in the second mean, the same for all paths, does not
// change that mean, and may make it far less noisy. Jumps of later steps are held still by the normals of
// their own steps, after all that earlier ones have moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

inline constexpr std::uint32_t no_slope = ~std::uint32_t{0};

// A comparison of which one is less than the other. Nodes of its section have the difference of the second
// number from the first, and its derivatives to the normal number of the step before.
struct scored_jump {
    jump at{};
    std::uint32_t difference = 0, slope = 0;
    std::uint32_t curvature = no_slope;  // the second derivative; none: it is 0
};

// A path program that goes on with derivatives of its states to a normal number of the last step, too.
struct scored_program {
    path_program code;
    std::uint32_t normal = 0;  // its slot
    std::vector<scored_jump> jumps{};
    // By state: the one that has its derivative; none where that is 0. Derivatives have derivatives.
    std::vector<std::uint32_t> slopes{};
    std::vector<bool> is_curvature{};  // by state: a second derivative
};

// None where the jumps can't be held still by this normal number: one that does not move with it, is no
// comparison of which is less, or does not move smoothly with it.
std::optional<scored_program> scored_by(const path_program& p, const std::vector<jump>& jumps,
                                        std::uint32_t normal);

// By the normal number that moves the jumps most, as far as some paths show. None if every normal number
// leaves one of the jumps alone, or next to alone, on one of these paths.
std::optional<scored_program> scored(const path_program& p, const path_data& data, const timeline& when,
                                     const std::vector<jump>& jumps);

// One normal number holds one jump still. Whether it holds the others of the step still, too, where the
// numbers of the trade move in this direction: as far as some paths show.
bool stand_still_together(const scored_program& of, const path_data& data, const timeline& when,
                          const path_data& direction);

// The numbers of a trade for the program that also carries derivatives.
path_data data_of_scored(const scored_program& of, path_data data);

// The way back from paths of `forth`.
struct scored_adjoint {
    path_program forth;
    adjoint_program code;
};
// States among the wanted numbers are those without derivatives.
scored_adjoint adjoint(const scored_program& p, const wanted_numbers& wanted, std::size_t output = 0);

}  // namespace tilewalk::program
