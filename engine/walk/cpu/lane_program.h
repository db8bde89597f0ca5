// SPDX-License-Identifier: Apache-2.0
// A path program as lists of loops for the lane machine, with their registers.
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
    normal,  // a shock of this step, 256 numbers; likewise the next two
    uniform,
    scenario,
    constant,  // one number: a literal
    term,      // one number of the trade
    row,       // one number of this run of the section
};
struct operand {
    space in = space::lane;
    std::uint32_t at = 0;
    bool is_number() const { return in >= space::constant; }
};

struct instruction {
    // constant: copies or broadcasts args[0].
    program::operation code = program::operation::constant;
    std::uint8_t mode = 0;
    std::uint32_t out = 0;  // lane register
    operand args[3];
    // For interpolate: the table's place in the row, and its size.
    std::uint32_t table = 0, size = 0;
    // Skips `skipped` instructions from this one on if `guard` is `wanted` on no lane.
    std::uint32_t skipped = 0;
    operand guard{};
    bool wanted = false;
};

struct lane_program {
    std::vector<std::vector<instruction>> sections;
    std::vector<double> constants;
    std::vector<std::uint32_t> outputs;  // lane registers; state s lives in register s
    std::vector<program::output_pair> crossed;
    std::uint32_t states = 0;
    std::uint32_t registers = 0;
    std::vector<program::place_in_stream> normals, uniforms;  // by slot
    int scenarios_per_step = 0;

    std::size_t operations() const;
    std::size_t results() const { return outputs.size() + crossed.size(); }
    std::size_t bytes() const { return std::size_t{registers} * lanes * sizeof(double); }
};

lane_program compile(const program::path_program& p, int least_guarded_cost = program::least_guarded_cost);

}  // namespace tilewalk::cpu
