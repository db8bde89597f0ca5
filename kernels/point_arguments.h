// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernel that fills cubes with points, with the same layout on the host and on the
// device.
#pragma once

#include "kernels/bridge.h"
#include "kernels/fill_kernel.h"
#include "kernels/normal_table.h"
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
    const void* normals;       // a table of normal_table
    const slot_of_points* slots;
    // A bridge, or null: nodes in the order of their dimensions; their numbers, those first that wait for
    // no other, and where each such level ends; by step one over the deviation of its move.
    const bridge_node* nodes;
    const word32 *by_level, *level_ends;
    const double* inverse_roots;
    word32 levels;
    word32 steps, slot_count, first_dimension, dimensions_of_node;
    word32 quasi_nodes;  // others are no points
    word32 groups;       // of 32 paths, times slots, which blocks take in turn
    word32 blocks;
};

static constexpr int paths_of_warp = 32;
static constexpr int point_threads = 512, warps_of_points = point_threads / paths_of_warp;

// The rows of a table that a block keeps in shared memory: nearly all numbers are of the first octaves.
template <class shock>
struct kept_normals;
template <>
struct kept_normals<double> {
    using table = normal_table<double>;
    static constexpr int rows = 32 << table::bits_of_part;
    static constexpr word64 bytes = rows * (2 * sizeof(double) + 4 * sizeof(float));
};
template <>
struct kept_normals<float> {
    static constexpr int rows = normal_table<float>::rows;
    static constexpr word64 bytes = rows * 4 * sizeof(float);
};

// Bytes of shared memory of a block that makes normals, behind which are places of a bridge, if there is
// room.
template <class shock>
static constexpr word64 bridge_bytes(word64 steps) {
    return steps * paths_of_warp * sizeof(shock);
}

}  // namespace tilewalk::kernels
