// SPDX-License-Identifier: Apache-2.0
// The search for shifts of normals under which a rare payoff is no longer rare (see
// products/program/shift.h). A pilot first asks plain paths whether the payoff is rare at all; then paths
// that are each shifted another way look for it; then paths with the mean shift of those that found it look
// around there. Other paths judge.
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
    // How many times fewer paths the pilot says are enough for the same error.
    double fewer_paths = 1;
    std::uint64_t pilot_paths = 0;
};

struct pilot {
    std::size_t slots = 0;      // normals of a step
    std::vector<double> times;  // of the grid, from 0
    double unshifted = 0.1;     // the share of paths that shall keep their normals
    std::uint64_t seed = 0;
    std::uint64_t blocks = 0;               // that it may walk, of cpu::lanes paths
    cpu::lane_draw<double> draw = nullptr;  // of normals
    // The payoffs of a block of paths with these normals, which are other ones than those of other blocks.
    // All else that is random in a path depends on the number of the block.
    std::function<void(std::uint64_t block, const arrays::shock_cube& normals, double* payoffs)> walk;

    static constexpr std::uint64_t fewest_blocks = 3;
    // Normals of a path: those of a block are in memory at once.
    static constexpr std::size_t most_normals = 16384;
    // More slots are moves of many assets, which a GPU makes ahead of the paths from plain normals.
    static constexpr std::size_t most_slots = 63;
};

struct outcome {
    // None where the payoff is not rare, where no path finds it, or where that shows no gain.
    std::optional<found_shifts> shifts{};
    double variance = 0;  // of a path of the run, with shifts or without, as far as the pilot knows
};
outcome find(const pilot& by);

}  // namespace tilewalk::importance
