// SPDX-License-Identifier: Apache-2.0
// Loops over the 256 lanes of a tile. One source is compiled for each instruction set, with the same bits.
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
    // Operands point to 256 numbers, or to one for all lanes if their bit is set in the loop's mode (bit 0
    // for a, 1 for b, 2 for c). out may be an operand.
    using loop = void (*)(real* out, const real* a, const real* b, const real* c);

    // [operation][mode]; null for leaves, table operations, and modes in which every operand is one number.
    std::array<std::array<loop, 8>, program::operations.size()> loops;

    // [mode]: interpolates at 256 positions, in mode 1 at one for all lanes. Rounds the table's numbers on
    // use.
    using table_loop = void (*)(real* out, const real* positions, const double* table, int size);
    std::array<table_loop, 2> interpolate;
    void (*fill)(real* out, real number);
    void (*copy)(real* out, const real* from);
    // Sums the first `count` of 256 numbers in double, in the tree of kernels/tile.h; the others count as 0.
    double (*sum)(const real* from, int count);
    bool (*any)(const real* truths, bool wanted);
};

// Draws block `block` of a stream for paths first_path + lane: out[shock of the block][lane]. A block has 128
// random bits: two shocks in double, four in single.
template <class shock>
using lane_draw = void (*)(shock (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                           std::uint32_t block, kernels::stream_key name);

template <class shock>
struct lane_draws {
    lane_draw<shock> normals;
    lane_draw<shock> uniforms;
};

// Points of a randomisation in trials; 256 lanes hold several.
inline constexpr int few_points = 32;

template <class shock>
struct lane_points {
    // Shocks of points first_index + lane in the dimension of `directions`; first_index is a multiple of 256.
    using draw = void (*)(shock* out, const kernels::word32* directions, const kernels::scramble& by,
                          std::uint32_t first_index, const kernels::normal_table<shock>& table);
    draw normals, uniforms;
    draw few_normals, few_uniforms;
    // Turns normals in `here` into places of paths at a bridge's node. Unknown neighbours are null.
    void (*place)(shock* here, const shock* left, const shock* right, const kernels::bridge_node& node);
    // Normal moves from `before`, null at the start, to `here`.
    void (*move)(shock* out, const shock* before, const shock* here, double inverse_root);
    // Sums weights[i] times number i for count >= 1. Numbers lie `apart` elements apart; out is none of them.
    void (*sum)(shock* out, const shock* first, std::size_t apart, const double* weights, std::size_t count);
};

struct lane_operations {
    std::string_view name;  // "x86-64-v4"
    lane_functions<double> in_double;
    lane_functions<float> in_single;
    lane_draws<double> double_draws;
    lane_draws<float> single_draws;
    lane_draws<double> widened_draws;  // single's, converted to double
    lane_points<double> double_points;
    lane_points<float> single_points;
};

// The build's sets that the machine can run, best first. Empty without FMA.
struct instruction_set_list {
    std::array<const lane_operations*, 4> sets{};
    int count = 0;
};
instruction_set_list runnable_instruction_sets();

}  // namespace tilewalk::cpu
