// SPDX-License-Identifier: Apache-2.0
// Searches for shifts of normals under which a rare payoff is no longer rare (see products/program/shift.h).
// A pilot's unshifted paths show whether the payoff is rare. Scouts, with shifts of all kinds, look for it.
// Rounds of paths then take the mean shifts of those that found it. A last set of paths judges the gain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cpu/lane_operations.h"
#include "products/program/shift.h"

namespace tilewalk::importance {

struct found_shifts {
    program::normal_shifts normals;
    // Factor by which paths can be fewer for the same error, as the pilot estimates.
    double fewer_paths = 1;
    std::uint64_t pilot_paths = 0;
};

struct pilot {
    std::size_t slots = 0;      // normals per step
    std::vector<double> times;  // of steps, beginning with 0
    double unshifted = 0.1;     // share of paths that are not shifted
    std::uint64_t seed = 0;
    std::uint64_t blocks = 0;               // blocks of cpu::lanes paths to walk at most
    cpu::lane_draw<double> draw = nullptr;  // draws normals
    // Writes the payoffs of a block's paths with these normals. Other random numbers follow from `block`.
    std::function<void(std::uint64_t block, const arrays::shock_cube& normals, double* payoffs)> walk;

    static constexpr std::uint64_t fewest_blocks = 3;
    // Limit on a path's normals, because those of a whole block are in memory at once.
    static constexpr std::size_t most_normals = 16384;
    // Limit on slots: with more, a GPU makes moves ahead of the paths from normals that are not shifted.
    static constexpr std::size_t most_slots = 63;
};

struct outcome {
    // Empty if the payoff is not rare, no path finds it, or shifts show no gain.
    std::optional<found_shifts> shifts{};
    double variance = 0;  // estimate per path, with the shifts if there are any
};
outcome find(const pilot& by);

}  // namespace tilewalk::importance
