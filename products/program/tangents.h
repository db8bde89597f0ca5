// SPDX-License-Identifier: Apache-2.0
// The tangents of a program: the same paths, with the derivatives of one output along a few directions
// carried forth beside them. The result is a path program like any other: any back end walks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/passes.h"

namespace tilewalk::program {

struct tangent_program {
    // Its outputs are those of the program, each computed by the same operations, and then the derivative of
    // one of them along each direction.
    path_program code;
    std::vector<wanted_numbers> along;  // by direction: the numbers that it moves
    std::vector<jump> smoothed;

    // A number of a direction that paths read: a state, a column or a slot of the program.
    struct moved_number {
        std::uint32_t direction = 0, number = 0;
    };
    // In the order in which they were recorded, behind the numbers of the program itself.
    std::vector<moved_number> states, terms;
    std::vector<moved_number>
        still;  // states whose derivative stays as it begins, as terms behind the others
    std::vector<std::vector<moved_number>> rows, tables;  // by section
};

// The rules at ties, at conditions and where a number is not taken are those of `adjoint`; so are those of
// comparisons that are smoothed. `output` is a place among the outputs of p. Scenarios stand still.
tangent_program tangents(const path_program& p, const std::vector<wanted_numbers>& along,
                         const std::vector<jump>& smoothed = {}, std::size_t output = 0);

// The numbers of a trade of program p with the derivatives of its numbers along each direction.
path_data data_of_tangents(const tangent_program& t, const path_program& p, const path_data& data,
                           const std::vector<path_data>& directions, const smoothing& widths = {});

// Whether tangents along these directions take fewer operations than a way back to all numbers that they
// move: a property of the programs alone, so that every device finds derivatives in the same way.
bool costs_less(const tangent_program& t, const path_program& p, const adjoint_program& back);

}  // namespace tilewalk::program
