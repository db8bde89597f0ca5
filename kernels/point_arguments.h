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
// there are no points. Numbers of one that is lone build no path.
struct slot_of_points {
    stream_key key;
    word32 dimension, dimensions, is_lone;
};

// A node on the way of a thread that makes its paths in the order of time, and keeps places that it will
// still move to on a stack. When it comes to a node, the last place that it left is that of the node's left
// step, and the place on top of the stack that of its right one. Then it leaves `leaves` steps: the node's
// own first, if there are any, and then those on the stack.
struct alignas(16) point_visit {
    double by_left, by_right, deviation;
    word32 node, step, leaves;
    word32 unused;
};

// A part of the way of a bridge with components, which begins behind one of their dates: its first visit, its
// first step, and the number of the date before, counted from 1; 0: the path begins there.
struct point_segment {
    word32 first, next, before;
};

// Shocks of one kind. Step k of slot s stands in row k * slots + s of the cube.
struct points_arguments {
    cube_argument into;
    word64 seed, first_path, paths_of_randomisation;
    const word32* directions;  // [dimension][bit of the index]
    const void* normals;       // a table of normal_table
    const slot_of_points* slots;
    const word32* dimensions;  // [node][slot], of points; no_dimension: it is drawn without points
    // The way through a bridge, of one visit a step, or null: each step is a node of its own. The places of
    // paths after the first nodes, known by sums of components, are found ahead of it.
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

// Turns numbers of some slots of a step into sums of them, in place.
struct rotation_arguments {
    cube_argument into;
    const word32* slots;
    const double* rotation;  // [slot][number]
    word32 rotated, steps, slot_count;
    word32 groups;  // of 32 paths, times steps
    word32 blocks;
};

static constexpr int paths_of_warp = 32;
// Warps of a block that makes points: as many as have the registers they need, two blocks to a
// multiprocessor.
static constexpr int warps_of_points(bool has_components) {
    return has_components ? 12 : 16;
}

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

// Neighbouring paths of a thread that makes points. In shared memory of a block stand its table, the places
// that components tell, the components, and the stack of each warp.
template <class shock>
static constexpr int paths_of_points = 16 / int(sizeof(shock));
static constexpr word64 bytes_of_place = 16 * paths_of_warp;

// The most warps of a block that rotates, each of which has its numbers in shared memory.
static constexpr int most_warps_of_rotation = 8;
template <class shock>
static constexpr word64 rotation_bytes(word64 warps, word64 rotated) {
    return warps * rotated * paths_of_warp * sizeof(shock);
}

}  // namespace tilewalk::kernels
