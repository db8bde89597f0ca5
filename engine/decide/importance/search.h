// SPDX-License-Identifier: Apache-2.0
// The search for shifts of normals under which a rare payoff is no longer rare (see
// products/program/shift.h). A pilot's plain paths show whether the payoff is rare; scouts, each shifted
// another way, look for it; paths with the mean shift of those that found it look around there. Other paths
// judge.
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
    // How many times fewer paths are enough for the same error, as the pilot says.
    double fewer_paths = 1;
    std::uint64_t pilot_paths = 0;
};

struct pilot {
    std::size_t slots = 0;      // normals of a step
    std::vector<double> times;  // of the grid, from 0
    double unshifted = 0.1;     // share of paths that keep their normals
    std::uint64_t seed = 0;
    std::uint64_t blocks = 0;               // most to walk, of cpu::lanes paths
    cpu::lane_draw<double> draw = nullptr;  // of normals
    // Returns payoffs with these normals; all else random depends on the block's number.
    std::function<void(std::uint64_t block, const arrays::shock_cube& normals, double* payoffs)> walk;

    static constexpr std::uint64_t fewest_blocks = 3;
    // Limit on the normals of a path: those of a block are in memory at once.
    static constexpr std::size_t most_normals = 16384;
    // Moves of more slots are made ahead of the paths on a GPU, from plain normals.
    static constexpr std::size_t most_slots = 63;
};

struct outcome {
    // Empty if the payoff is not rare, if no path finds it, or if shifts show no gain.
    std::optional<found_shifts> shifts{};
    double variance = 0;  // of a path of the run, as far as the pilot knows
};
outcome find(const pilot& by);

}  // namespace tilewalk::importance
