// SPDX-License-Identifier: Apache-2.0
// The adjoint: derivatives of one output to all numbers of a path, by a program that walks back from its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

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

// A comparison, floor, select or operation on truths at which a number that later sections read jumps.
struct jump {
    std::uint32_t section = 0, node = 0;
    friend bool operator==(const jump&, const jump&) = default;
};

// A number of the program, and the state of the way back that holds its derivative along a path: after a
// section the derivative of one run, at the path's start the sum over all runs.
struct derivative_in {
    std::uint32_t number = 0;  // a state, a column or a slot
    std::uint32_t state = 0;
};

// The derivatives of one run with respect to the numbers of a table. Each read of the table leaves two
// states: the derivative with respect to the interpolated number, and the position, which divides it between
// two neighbours.
struct derivative_in_table {
    struct read {
        std::uint32_t state = 0, position = 0;  // states of the way back
    };
    std::uint32_t table = 0;
    std::vector<read> reads{};
};

// The way back through a section. It starts from the forward states at the section's start and from the
// derivatives with respect to the states that the section left. It ends with the derivatives with respect to
// the states at the section's start.
struct section_derivatives {
    std::vector<derivative_in> given;  // forward states that the section needs before it is walked back
    std::vector<derivative_in> rows, scenarios;
    std::vector<derivative_in_table> tables;
};

// Sections have the same numbers in the original program, `back` and `again`. `back` runs in reverse order.
struct adjoint_program {
    path_program back;
    // The forward program reduced to what the way back needs; states and columns keep their places.
    path_program again;
    std::vector<section_derivatives> sections;
    std::vector<derivative_in> initial_states, terms;
    std::vector<jump> smoothed;
    // The state of the way back that starts at 1; ~0 if the output depends on no wanted number.
    std::uint32_t seeded = 0;
    // True if normals hold jumps still (see likelihood_ratio.h). A constant, the control, is then subtracted
    // from the output.
    bool has_control = false;
};

// `output` is an index into p.outputs.
//
// At a kink the derivative is that of the operand taken; at a tie of min or max, of the first operand. The
// square root has derivative 0 at 0. Comparisons, floors and conditions have no derivative, so a jump of the
// payoff is missed. A number that a condition does not select on a path contributes nothing, however large
// its own derivative.
//
// A `smoothed` comparison (less or less_equal) has a derivative with respect to the difference of its
// operands: a kernel of area 1 around 0, with a width for each run, negative in its outer part so that its
// second moment is 0. The bias of the mean derivative is then of fourth order in the width. A truth is
// weighted by the difference between its two outcomes, so the payoff must be linear in each truth.
adjoint_program adjoint(const path_program& p, const wanted_numbers& wanted,
                        const std::vector<jump>& smoothed = {}, std::size_t output = 0);

// The forward program for steps that only sections on every step follow: without numbers that only the way
// back of other sections needs. States and columns keep their places.
path_program again_quietly(const adjoint_program& a);

// Widths by smoothed comparison and run; 0 switches the smoothing off.
using smoothing = std::vector<std::vector<double>>;

// A trade's derivatives in one array: with respect to initial states, to terms, then to the numbers of each
// section's runs.
struct derivative_places {
    std::size_t terms = 0;             // place of the first term
    std::vector<std::size_t> first;    // by section: place of its first run
    std::vector<std::size_t> per_run;  // by section: numbers of one run
    std::size_t size = 0;

    std::size_t of_run(std::size_t section, std::size_t run) const {
        return first[section] + run * per_run[section];
    }
};
derivative_places places_of(const adjoint_program& a, const path_data& data);

// The numbers of a trade, laid out by derivative_places. Scenarios are 0, since no trade owns their numbers.
std::vector<double> numbers_in_line(const adjoint_program& a, const path_data& data);

// Data of the way back. `control` is the constant subtracted if has_control, best near the output's mean.
path_data data_of_back(const adjoint_program& a, const path_data& data, const smoothing& widths = {},
                       double control = 0);

}  // namespace tilewalk::program
