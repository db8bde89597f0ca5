// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernel that fills cubes with points, with the same layout on host and device.
#pragma once

#include "kernels/bridge.h"
#include "kernels/fill_kernel.h"
#include "kernels/normal_table.h"
#include "kernels/philox.h"

namespace tilewalk::kernels {

// A slot of a step: its stream, and its place there if drawn without points. A lone slot builds no path.
struct slot_of_points {
    stream_key key;
    word32 dimension, dimensions, is_lone;
};

// A bridge node, as visited by a thread that builds its paths in order of time, with later places on a stack.
// At a visit, the last place written is the node's left one, and the top of the stack its right one. The
// visit then writes the places of `leaves` steps: the node's own, then some from the stack. If `leaves` is 0,
// the node's place goes on the stack.
struct alignas(16) point_visit {
    double by_left, by_right, deviation;
    word32 node, step, leaves;
    word32 unused;
};

// A stretch of the visits of a bridge with components, which starts after one of the dates of components: its
// first visit, its first step, and the number of that date, counted from 1; 0 is the start of the path.
struct point_segment {
    word32 first, next, before;
};

// Shocks of one kind (normal, uniform). Step k of slot s is in row k * slots + s of the cube.
struct points_arguments {
    cube_argument into;
    word64 seed, first_path, paths_of_randomisation;
    const word32* directions;  // [dimension][bit of the index]
    const void* normals;       // a table of normal_table
    const slot_of_points* slots;
    const word32* dimensions;  // [node][slot], of points; no_dimension: it is drawn without points
    // The visits of a bridge, one a step; null without a bridge. Components determine the first nodes'
    // places.
    const point_visit* visits;
    const double* inverse_roots;  // by step, of the deviation of its move; null: paths stay places
    const double* loadings;       // [node][component]
    const word32* steps_of_components;
    const point_segment* segments;  // of a way with components, and behind them its end
    word32 components, walkers;     // warps of a block that walk
    word32 stack;                   // the most places on a thread's stack
    word32 steps, slot_count;
    word32 groups;  // of a warp's paths, times slots, which blocks take in turn
    word32 blocks;
};

// Replaces the numbers of some slots of a step by linear combinations of these numbers.
struct rotation_arguments {
    cube_argument into;
    const word32* slots;
    const double* rotation;  // [slot][number]
    word32 rotated, steps, slot_count;
    word32 groups;  // of 32 paths, times steps
    word32 blocks;
};

static constexpr int paths_of_warp = 32;
// Warps of a block that makes points. Registers of a multiprocessor then suffice for two blocks.
static constexpr int warps_of_points(bool has_components) {
    return has_components ? 12 : 16;
}

// Rows of a normal_table that a block keeps in shared memory. Nearly all numbers need only the first octaves.
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

// Neighbouring paths of a thread that makes points: 16 bytes of shocks.
template <class shock>
static constexpr int paths_of_points = 16 / int(sizeof(shock));
static constexpr word64 bytes_of_place = 16 * paths_of_warp;

// The most warps of a block that rotates slots; each warp has its numbers in shared memory.
static constexpr int most_warps_of_rotation = 8;
template <class shock>
static constexpr word64 rotation_bytes(word64 warps, word64 rotated) {
    return warps * rotated * paths_of_warp * sizeof(shock);
}

}  // namespace tilewalk::kernels
