// SPDX-License-Identifier: Apache-2.0
// The room that a device has for chunks: how many tiles it walks at once, and how many sets of cubes of
// shocks.
#pragma once

#include <cstddef>

#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

struct chunk_room {
    kernels::word64 most_tiles = 1;
    std::size_t sets = 1;

    // Chunks as large as free memory allows, with their shocks if these come from arrays. Each of
    // several chunks that a run needs has half as much room for two sets of cubes: one is filled while the
    // other is read.
    static chunk_room on(device& d, const run_state& run, const reduction_entry& reduction);
};

}  // namespace tilewalk::cuda
