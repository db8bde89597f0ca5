// SPDX-License-Identifier: Apache-2.0
// Loops over 256 lanes. One source is compiled for each instruction set, with the same bits.
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

template <class real>
struct lane_functions {
    // Computes one operation on 256 lanes. An operand is an array of 256 numbers, or one number for all lanes
    // if its bit of the mode is set (bit 0 for a, 1 for b, 2 for c). `out` may be one of the operands.
    using loop = void (*)(real* out, const real* a, const real* b, const real* c);

    // Indexed [operation][mode]; null for leaves, table operations, and if every operand is one number.
    std::array<std::array<loop, 8>, program::operations.size()> loops;

    // Indexed [mode]: interpolates in a table at 256 positions (mode 0), or at one position for all lanes
    // (mode 1). Numbers of the table are rounded to `real` when read.
    using table_loop = void (*)(real* out, const real* positions, const double* table, int size);
    std::array<table_loop, 2> interpolate;
    void (*fill)(real* out, real number);
    void (*copy)(real* out, const real* from);
    // Sums the first `count` of 256 numbers in double, in the tree of kernels/tile.h, with 0 for the others.
    double (*sum)(const real* from, int count);
    bool (*any)(const real* truths, bool wanted);
};

// Draws one block of a stream for 256 paths: out[i][lane] is shock i of path first_path + lane. A block has
// 128 random bits: two shocks in double, four in single.
template <class shock>
using lane_draw = void (*)(shock (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                           std::uint32_t block, kernels::stream_key name);

template <class shock>
struct lane_draws {
    lane_draw<shock> normals;
    lane_draw<shock> uniforms;
};

// Points in a randomisation of a pilot run; 256 lanes then hold eight randomisations.
inline constexpr int few_points = 32;

template <class shock>
struct lane_points {
    // Shocks of points first_index + lane in the dimension with these `directions`; 256 divides first_index.
    using draw = void (*)(shock* out, const kernels::word32* directions, const kernels::scramble& by,
                          std::uint32_t first_index, const kernels::normal_table<shock>& table);
    draw normals, uniforms;
    draw few_normals, few_uniforms;
    // A step of a Brownian bridge: turns the normals in `here` into positions at the node, given the
    // positions at its neighbours (null if there is none).
    void (*place)(shock* here, const shock* left, const shock* right, const kernels::bridge_node& node);
    // Turns positions at the start (`before`, null for 0) and end (`here`) of a step into the step's normal.
    void (*move)(shock* out, const shock* before, const shock* here, double inverse_root);
    // In each lane, the sum of weights[i] * first[i * apart + lane] for i < count, which must be at least 1.
    // `out` must not overlap the numbers.
    void (*sum)(shock* out, const shock* first, std::size_t apart, const double* weights, std::size_t count);
};

struct lane_operations {
    std::string_view name;  // such as "x86-64-v4"
    lane_functions<double> in_double;
    lane_functions<float> in_single;
    lane_draws<double> double_draws;
    lane_draws<float> single_draws;
    lane_draws<double> widened_draws;  // the draws of single, converted to double
    lane_points<double> double_points;
    lane_points<float> single_points;
};

// The instruction sets of this build that the machine can run, fastest first. Empty if it lacks FMA.
struct instruction_set_list {
    std::array<const lane_operations*, 4> sets{};
    int count = 0;
};
instruction_set_list runnable_instruction_sets();

}  // namespace tilewalk::cpu
