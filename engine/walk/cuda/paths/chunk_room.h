// SPDX-License-Identifier: Apache-2.0
// A device's room for chunks: tiles walked at once, and sets of cubes of shocks.
#pragma once

#include <cstddef>

#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

struct chunk_room {
    kernels::word64 most_tiles = 1;
    std::size_t sets = 1;

    // Chunks as large as memory allows, with their shocks if from arrays. Several chunks have half the room
    // each, for two sets of cubes: one is filled while the other is read.
    static chunk_room on(device& d, const run_state& run, const reduction_entry& reduction);
};

}  // namespace tilewalk::cuda
