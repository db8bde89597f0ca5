// SPDX-License-Identifier: Apache-2.0
// The loops of the lane machine: each operation of a program over the 256 lanes of a tile, for one
// instruction set. The same source is compiled once for each instruction set; all give the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "products/program/operation.h"

namespace tilewalk::cpu {

inline constexpr int lanes = 256;

// out, a, b and c point to 256 numbers (64-byte aligned), except that an operand whose bit is set in the
// loop's mode (bit 0 for a, 1 for b, 2 for c) points to one number that holds for all lanes. out may be one
// of the operands.
using lane_loop = void (*)(double* out, const double* a, const double* b, const double* c);

struct lane_operations {
    std::string_view name;  // "x86-64-v4"
    // [operation][mode]; null for leaves and for modes in which every operand is one number.
    std::array<std::array<lane_loop, 8>, program::operations.size()> loops;
    void (*fill)(double* out, double number);
    void (*copy)(double* out, const double* from);
    // The two normals (uniforms) that block `block` of the counter gives to each of the paths first_path +
    // lane.
    void (*normals)(double* first, double* second, std::uint64_t seed, std::uint64_t first_path,
                    std::uint32_t block);
    void (*uniforms)(double* first, double* second, std::uint64_t seed, std::uint64_t first_path,
                     std::uint32_t block);
};

// Best first; only those that this build has and this machine can run. Empty on a machine without FMA.
struct instruction_set_list {
    std::array<const lane_operations*, 4> sets{};
    int count = 0;
};
instruction_set_list runnable_instruction_sets();

// One operation on single numbers, with the very functions that the loops use.
double evaluate(program::operation code, double a, double b, double c);

}  // namespace tilewalk::cpu
