// SPDX-License-Identifier: Apache-2.0
// The tangents of a program: the same paths, with the derivatives of one output along a few directions
// carried forward. The result is an ordinary path program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/passes.h"

namespace tilewalk::program {

struct tangent_program {
    // Outputs: those of the program, then the derivative of one of them along each direction.
    path_program code;
    std::vector<wanted_numbers> along;  // by direction: the numbers that it moves
    std::vector<jump> smoothed;

    // A number that a direction moves and paths read: a state, a column or a slot of the program.
    struct moved_number {
        std::uint32_t direction = 0, number = 0;
    };
    // In recording order, after the numbers of the program itself.
    std::vector<moved_number> states, terms;
    std::vector<moved_number> still;  // states whose derivative never changes: terms, placed after the others
    std::vector<std::vector<moved_number>> rows, tables;  // by section
};

// Ties, conditions, operands not taken and smoothed comparisons follow the rules of `adjoint`. `output` is an
// index into p.outputs. Scenarios are not moved.
tangent_program tangents(const path_program& p, const std::vector<wanted_numbers>& along,
                         const std::vector<jump>& smoothed = {}, std::size_t output = 0);

// Data of a trade of program p, with the derivatives of its numbers along each direction.
path_data data_of_tangents(const tangent_program& t, const path_program& p, const path_data& data,
                           const std::vector<path_data>& directions, const smoothing& widths = {});

// True if these tangents take fewer operations than a way back to all numbers that they move. Depends on the
// programs alone, so every device computes derivatives in the same way.
bool costs_less(const tangent_program& t, const path_program& p, const adjoint_program& back);

}  // namespace tilewalk::program
