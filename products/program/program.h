// SPDX-License-Identifier: Apache-2.0
// A program: everything that happens along one path, as straight-line typed values in sections. Its structure
// holds no number of the trade; strikes, dates and curves come beside it as data, so trades of one shape
// share a program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "products/program/operation.h"

namespace tilewalk::program {

// One value. The arguments of an operation are indices of earlier nodes of the same section; for term, row,
// state, normal, uniform and scenario args[0] is the slot.
struct node {
    operation code = operation::constant;
    std::array<std::uint32_t, 3> args{};
    double number = 0;  // of a constant

    friend bool operator==(const node&, const node&) = default;
};

// At the end of a section `state` takes the value of `node`.
struct state_write {
    std::uint32_t state = 0;
    std::uint32_t node = 0;
};

// Nodes read the states as they stood when the section began; writes happen together at its end.
struct section {
    std::string name;
    std::vector<node> nodes;
    std::vector<state_write> writes;
    std::vector<std::string> rows;  // names of the row slots
};

// sections[0] is the step from one grid time to the next; the others are observations, run on the grid times
// that the timeline says, in order of section number.
struct program {
    std::vector<std::string> states;
    std::vector<std::string> terms;
    std::vector<section> sections;
    std::vector<std::uint32_t> outputs;  // states that hold a result when the path ends
    int normals_per_step = 0;
    int uniforms_per_step = 0;
    int scenarios_per_step = 0;
};

// Where a scenario slot finds its numbers: on step s in row rows[s] of an array that the market has, one
// number for each path.
struct scenario_rows {
    std::uint32_t array = 0;  // its number in the market
    std::vector<std::uint32_t> rows;
};

// The numbers of one trade for a program: terms by slot, rows by section (row-major, one row for each run of
// the section along the path), and the states at the start of a path.
struct program_data {
    std::vector<double> terms;
    std::vector<std::vector<double>> rows;
    std::vector<std::size_t> runs, widths;  // by section: how many rows, and how many numbers each has
    std::vector<double> initial_states;
    std::vector<scenario_rows> scenarios{};  // by slot
};

}  // namespace tilewalk::program
