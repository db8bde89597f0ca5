// SPDX-License-Identifier: Apache-2.0
// The adjoint of a program: the derivatives of one output to the numbers that its paths read, by a program
// that walks each path back from its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// Numbers of a path program to which derivatives are wanted.
struct wanted_numbers {
    std::vector<bool> initial_states;       // by state
    std::vector<bool> terms;                // by column of per_trade
    std::vector<std::vector<bool>> rows;    // by section and column of per_run
    std::vector<std::vector<bool>> tables;  // by section and slot
    std::vector<bool> scenarios;            // by slot

    friend bool operator==(const wanted_numbers&, const wanted_numbers&) = default;
};
wanted_numbers no_number_of(const path_program& p);
wanted_numbers all_numbers_of(const path_program& p);

// A comparison or a floor at which the numbers that a path goes on with jump.
struct jump {
    std::uint32_t section = 0, node = 0;
    friend bool operator==(const jump&, const jump&) = default;
};

// A number of the program and the state of the way back in which its derivative along a path stands: that of
// all runs at the start of the path, or that of one run after the section.
struct derivative_in {
    std::uint32_t number = 0;  // a state, a column or a slot
    std::uint32_t state = 0;
};

// The derivatives of a run to the numbers of a table: for each time that it is read, that of the number found
// and the position in the table, among whose neighbours it is divided.
struct derivative_in_table {
    struct read {
        std::uint32_t state = 0, position = 0;  // states of the way back
    };
    std::uint32_t table = 0;
    std::vector<read> reads{};
};

// The way back through a section. It begins with the states that the section began with, and the derivatives
// to the states that it left; it ends with the derivatives to those that it began with.
struct section_derivatives {
    std::vector<derivative_in> given;  // forward states to be handed in before the section runs
    std::vector<derivative_in> rows, scenarios;
    std::vector<derivative_in_table> tables;
};

// Sections stand at the same places in all three programs, and a path runs them back in the opposite order.
struct adjoint_program {
    path_program back;
    // The forward program without what the way back does not need; states and columns keep their places.
    path_program again;
    std::vector<section_derivatives> sections;
    std::vector<derivative_in> initial_states, terms;
    std::vector<jump> smoothed;
    // The state of the way back that begins with 1: the derivative of the output to itself; ~0 where no
    // wanted number counts.
    std::uint32_t seeded = 0;
    // Jumps are held still by normal numbers (see likelihood_ratio.h), and a number is taken from the output.
    bool has_control = false;
};

// `output` is a place among the outputs of p.
//
// A derivative exists on both sides of a kink, and the side is that of the number taken: of min and max at a
// tie the first operand's. A square root has the derivative 0 at 0. Comparisons, floors and conditions have
// no derivative: a jump of the payoff where they change is not seen. A number that no side of a condition
// takes on a path counts for nothing on it, however large its own derivative is.
//
// A comparison (less or less_equal) that is `smoothed` has a derivative to the difference of what it
// compares: a bump of area 1 and of a width of its own for each run about 0, negative in its outer part, so
// that its second moment is 0. The mean derivative is then wrong by the fourth order of the width. A truth
// counts by the difference of what it decides between, so the payoff has to be linear in each truth.
adjoint_program adjoint(const path_program& p, const wanted_numbers& wanted,
                        const std::vector<jump>& smoothed = {}, std::size_t output = 0);

// The forward program of steps that no section follows but those on every step: without what only the way
// back of the others needs. States and columns keep their places.
path_program again_quietly(const adjoint_program& a);

// The width of each smoothed comparison, by its runs; 0 where it counts for nothing.
using smoothing = std::vector<std::vector<double>>;

// The derivatives of a trade in one line: to initial states and to terms, then section by section and run by
// run to rows, scenarios and the numbers of tables.
struct derivative_places {
    std::size_t terms = 0;             // the first of a term
    std::vector<std::size_t> first;    // by section: of its first run
    std::vector<std::size_t> per_run;  // by section
    std::size_t size = 0;

    std::size_t of_run(std::size_t section, std::size_t run) const {
        return first[section] + run * per_run[section];
    }
};
derivative_places places_of(const adjoint_program& a, const path_data& data);

// The numbers of a trade in that line. Scenarios count as 0: a trade does not have their numbers.
std::vector<double> numbers_in_line(const adjoint_program& a, const path_data& data);

// Numbers of the way back, from those of the path. `control` is taken from the output where a number is: the
// nearer to its mean, the less noise.
path_data data_of_back(const adjoint_program& a, const path_data& data, const smoothing& widths = {},
                       double control = 0);

}  // namespace tilewalk::program
