// SPDX-License-Identifier: Apache-2.0
// A path program compiled for the lane machine: loops over lanes, and the registers that they use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/walk/cpu/lane_operations.h"
#include "products/program/guard.h"
#include "products/program/passes.h"

namespace tilewalk::cpu {

enum class space : std::uint8_t {
    lane,    // a register of 256 numbers
    normal,  // a shock of this step, 256 numbers; uniform and scenario likewise
    uniform,
    scenario,
    constant,  // a literal number
    term,      // a term: one number for all paths
    row,       // a number of the row of this run of the section
};
struct operand {
    space in = space::lane;
    std::uint32_t at = 0;
    bool is_number() const { return in >= space::constant; }
};

struct instruction {
    // `constant` copies args[0], or spreads it if it is one number.
    program::operation code = program::operation::constant;
    std::uint8_t mode = 0;
    std::uint32_t out = 0;  // lane register
    operand args[3];
    // For `interpolate`: where the table begins in the row, and its size.
    std::uint32_t table = 0, size = 0;
    // If `guard` is `wanted` on no lane, `skipped` instructions from this one on are left out; 0: no guard.
    std::uint32_t skipped = 0;
    operand guard{};
    bool wanted = false;
};

struct lane_program {
    std::vector<std::vector<instruction>> sections;
    std::vector<double> constants;
    std::vector<std::uint32_t> outputs;  // registers of the outputs; state s has register s
    std::vector<program::output_pair> crossed;
    std::uint32_t states = 0;
    std::uint32_t registers = 0;
    std::vector<program::place_in_stream> normals, uniforms;  // stream and dimension, by slot
    int scenarios_per_step = 0;

    std::size_t operations() const;
    std::size_t results() const { return outputs.size() + crossed.size(); }
    std::size_t bytes() const { return std::size_t{registers} * lanes * sizeof(double); }
};

lane_program compile(const program::path_program& p, int least_guarded_cost = program::least_guarded_cost);

}  // namespace tilewalk::cpu
