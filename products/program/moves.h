// SPDX-License-Identifier: Apache-2.0
// Takes the product of correlation and shocks out of a path program, so that it can be made ahead of the
// paths for all of them at once. With many factors this product is most of a step's work: it grows with the
// square of their number, all else in proportion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// How the move of factor i follows from the shocks z of a step:
//     move = drift;  for j = 0, 1, ... i in turn: move = fma(z[j], roots[j], move).
// Each is a leaf, a constant, a term or a row, in columns of the program that the move was taken from.
struct factor_move {
    node drift;
    std::vector<node> roots;  // i + 1 of them; none: no path reads this move, its shock matters to others
};

struct separated_moves {
    path_program code;                 // normal i of its step is the finished move of factor i
    std::vector<factor_move> factors;  // one for each normal of the step
    // By number of a row of code's step, its columns and then its tables: which number of the row it was.
    std::vector<std::uint32_t> numbers_of_row;
};

// Nothing if normals are used in any other way. That includes chains with a gap: a root that is missing is
// not a root of zero, which would make +0 of a sum that is -0.
std::optional<separated_moves> separate_moves(const path_program& p);

// The data of `code` from the data of the program that it was taken from.
path_data data_of_code(const separated_moves& m, const path_data& data);

// The numbers of the moves of one trade.
struct move_numbers {
    std::size_t factors = 0, steps = 0;
    std::vector<double> drifts;  // [step][factor]
    std::vector<double> roots;   // [step][place_of_root(i, j)]

    static constexpr std::size_t place_of_root(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }
    std::size_t roots_per_step() const { return place_of_root(factors, 0); }
};
move_numbers numbers_of_moves(const separated_moves& m, const path_data& data);

}  // namespace tilewalk::program
