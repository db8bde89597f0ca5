// SPDX-License-Identifier: Apache-2.0
// How many tiles a device can walk at once, and how many sets of arrays of shocks it can hold.
#pragma once

#include <cstddef>

#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

struct chunk_room {
    kernels::word64 most_tiles = 1;
    std::size_t sets = 1;

    // The largest chunk for which memory suffices, with its shocks if they come from arrays. If the run needs
    // several chunks, two sets of arrays share the room, if they fit: one is filled while the other is read.
    static chunk_room on(device& d, const run_state& run, const reduction_entry& reduction);
};

}  // namespace tilewalk::cuda
