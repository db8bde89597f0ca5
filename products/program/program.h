// SPDX-License-Identifier: Apache-2.0
// A program: everything that happens along one path, as straight-line typed values in sections. Strikes,
// dates and curves are data beside it, so trades of one shape share a program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "products/program/operation.h"
#include "products/program/streams.h"

namespace tilewalk::program {

// One value. Arguments of an operation are indices of earlier nodes of the section. For term, row, state,
// normal, uniform and scenario args[0] is the slot. For interpolate args[0] is the node of the position and
// args[1] the slot of the table.
struct node {
    operation code = operation::constant;
    std::array<std::uint32_t, 3> args{};
    double number = 0;  // the literal, for a constant

    friend bool operator==(const node&, const node&) = default;
};

// The arguments that are indices of nodes.
inline std::span<std::uint32_t> operands(node& n) {
    return std::span(n.args).first(static_cast<std::size_t>(entry_of(n.code).arity));
}
inline std::span<const std::uint32_t> operands(const node& n) {
    return std::span(n.args).first(static_cast<std::size_t>(entry_of(n.code).arity));
}

struct state_write {
    std::uint32_t state = 0;
    std::uint32_t node = 0;
};

// A row of `size` numbers for each run of the section, which paths read at positions of their own.
struct table {
    std::string name;
    std::uint32_t size = 0;
};

// Positions are in grid units: 0 is the first number of the table, size - 1 the last:
//     at = position within [0, size - 1];  i = floor(at), at most size - 2;
//     interpolate = fma(at - i, table[i + 1] - table[i], table[i]).
// A table is constant beyond its ends. A NaN position reads the first two numbers and gives NaN.
inline constexpr std::uint32_t least_table_size = 2;
// Small enough for a float to resolve all positions, and for 32 bits to count all table numbers of a path.
inline constexpr std::uint32_t most_table_size = 16384;

// Nodes read the states as they stood when the section began; all writes happen at its end.
struct section {
    std::string name;
    std::vector<node> nodes;
    std::vector<state_write> writes;
    std::vector<std::string> rows;  // names of the row slots
    std::vector<table> tables;      // by slot
};

// Two outputs whose cross moment is tallied, through the moments of their sum.
struct output_pair {
    std::uint32_t first = 0, second = 0;
    friend bool operator==(const output_pair&, const output_pair&) = default;
};

// sections[0] is the step from one grid time to the next. All later ones are observations, run at the grid
// times of the timeline in order of section number.
struct program {
    std::vector<std::string> states;
    std::vector<std::string> terms;
    std::vector<section> sections;
    std::vector<std::uint32_t> outputs;  // states whose final value is a result
    int normals_per_step = 0;
    int uniforms_per_step = 0;
    int scenarios_per_step = 0;
    std::vector<output_pair> crossed{};  // pairs of indices into `outputs`
    // By slot: the stream of its numbers (see places_in_streams).
    std::vector<std::uint32_t> normal_streams{}, uniform_streams{};
    // Slots of normals that are no increments of a Brownian path: quasi-random points build no bridge of
    // them.
    std::vector<std::uint32_t> lone_normals{};
};

// The source of a scenario slot: step s reads row rows[s] of an array, one number for each path.
struct scenario_rows {
    std::uint32_t array = 0;  // the array's number in the market
    std::vector<std::uint32_t> rows;
};

// The numbers of one trade for a program: terms by slot, rows by section (row-major, one row for each run),
// and the states at the start of a path.
struct program_data {
    std::vector<double> terms;
    std::vector<std::vector<double>> rows;
    std::vector<std::size_t> runs, widths;  // by section: rows, and numbers in each
    std::vector<double> initial_states;
    std::vector<scenario_rows> scenarios{};  // by slot
    // By section and slot: the rows of the table, concatenated.
    std::vector<std::vector<std::vector<double>>> tables{};
    std::vector<stream_name> normal_names{}, uniform_names{};  // by stream
};

}  // namespace tilewalk::program
