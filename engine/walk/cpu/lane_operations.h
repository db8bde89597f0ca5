// SPDX-License-Identifier: Apache-2.0
// The loops of the lane machine: each operation of a program over the 256 lanes of a tile, for one
// instruction set. The same source is compiled once for each instruction set; all give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/bridge.h"
#include "kernels/philox.h"
#include "kernels/sobol.h"
#include "products/program/operation.h"

namespace tilewalk::cpu {

inline constexpr int lanes = 256;

// Functions on numbers of one type, double or float.
template <class real>
struct lane_functions {
    // out, a, b and c point to 256 numbers, except that an operand whose bit is set in the loop's mode (bit 0
    // for a, 1 for b, 2 for c) points to one number that holds for all lanes. out may be one of the operands.
    using loop = void (*)(real* out, const real* a, const real* b, const real* c);

    // [operation][mode]; null for leaves, for operations that read tables, and for modes in which every
    // operand is one number.
    std::array<std::array<loop, 8>, program::operations.size()> loops;

    // Interpolates at the positions of 256 lanes or, in mode 1, at one position for all of them, in a table
    // of `size` numbers, each of which is rounded where it is used. [mode]
    using table_loop = void (*)(real* out, const real* positions, const double* table, int size);
    std::array<table_loop, 2> interpolate;
    void (*fill)(real* out, real number);
    void (*copy)(real* out, const real* from);
    // The sum of the first `count` of 256 numbers, in double, in the tree of kernels/tile.h: the others count
    // as 0.
    double (*sum)(const real* from, int count);
    // True if any of 256 truths is as `wanted`.
    bool (*any)(const real* truths, bool wanted);
};

// Draws the random shocks that block `block` of the stream of a name gives to each of the paths first_path +
// lane: out[shock of the block][lane]. A block has 128 random bits: two shocks in double, four in single.
template <class shock>
using lane_draw = void (*)(shock (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                           std::uint32_t block, kernels::stream_key name);

template <class shock>
struct lane_draws {
    lane_draw<shock> normals;
    lane_draw<shock> uniforms;
};

// Points of a randomisation that is tried: 256 lanes have some of these.
inline constexpr int few_points = 32;

// Shocks of quasi-random points.
template <class shock>
struct lane_points {
    // Shocks of points first_index + lane in the dimension of these directions; first_index is a multiple of
    // 256.
    using draw = void (*)(shock* out, const kernels::word32* directions, const kernels::scramble& by,
                          std::uint32_t first_index, const kernels::normal_table<shock>& table);
    draw normals, uniforms;
    // The same for few_points lanes.
    draw few_normals, few_uniforms;
    // Places of paths at a node of a bridge: `here` holds normals, and then the places. A place that is not
    // known is null.
    void (*place)(shock* here, const shock* left, const shock* right, const kernels::bridge_node& node);
    // Normal moves from the places before, null at the beginning, to `here`.
    void (*move)(shock* out, const shock* before, const shock* here, double inverse_root);
    // The sum of weights[i] times number i, from the first to the last of so many, at least one. Numbers are
    // `apart` elements apart, and out is none of them.
    void (*sum)(shock* out, const shock* first, std::size_t apart, const double* weights, std::size_t count);
};

struct lane_operations {
    std::string_view name;  // "x86-64-v4"
    lane_functions<double> in_double;
    lane_functions<float> in_single;
    lane_draws<double> double_draws;
    lane_draws<float> single_draws;
    lane_draws<double> widened_draws;  // those of single, converted to double
    lane_points<double> double_points;
    lane_points<float> single_points;
};

// The sets that this build has and this machine can run, best first. Empty on a machine without FMA.
struct instruction_set_list {
    std::array<const lane_operations*, 4> sets{};
    int count = 0;
};
instruction_set_list runnable_instruction_sets();

}  // namespace tilewalk::cpu
