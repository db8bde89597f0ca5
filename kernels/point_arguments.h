// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernel that fills cubes with points, with the same layout on the host and on the
// device.
#pragma once

#include "kernels/bridge.h"
#include "kernels/fill_kernel.h"
#include "kernels/philox.h"

namespace tilewalk::kernels {

// A slot of a step: its stream, and its place among the numbers that a step takes of it, which counts where
// there are no points.
struct slot_of_points {
    stream_key key;
    word32 dimension, dimensions;
};

// Shocks of one kind. Step k of slot s stands in row k * slots + s of the cube; node n of slot s takes the
// dimension first_dimension + n * dimensions_of_node + s.
struct points_arguments {
    cube_argument into;
    word64 seed, first_path, paths_of_randomisation;
    const word32* directions;  // [dimension][bit of the index]
    const slot_of_points* slots;
    // Of a bridge, or null: nodes in the order of their dimensions; their numbers, those first that wait for
    // no other, and where each such level ends; by step one over the deviation of its move.
    const bridge_node* nodes;
    const word32 *by_level, *level_ends;
    const double* inverse_roots;
    word32 levels;
    word32 steps, slot_count, first_dimension, dimensions_of_node;
    word32 quasi_nodes;  // others are no points
};

static constexpr int paths_of_warp = 32;
static constexpr int warps_of_fill = fill_threads / paths_of_warp;

// Bytes in which a block keeps the places of a bridge.
template <class shock>
static constexpr word64 bridge_bytes(word64 steps) {
    return steps * paths_of_warp * sizeof(shock);
}
// The blocks of a launch. If places of a bridge are kept in shared memory, the warps of a block work for the
// same paths.
static constexpr word64 blocks_of_points(word64 paths, word64 slots, bool is_in_shared) {
    const word64 groups = paths / paths_of_warp, by_block = is_in_shared ? 1 : warps_of_fill;
    return (groups + by_block - 1) / by_block * slots;
}

}  // namespace tilewalk::kernels
