// SPDX-License-Identifier: Apache-2.0
// Separates correlated moves: takes the product of correlation and shocks out of a path program, to compute
// it for all paths ahead of their walk. The product grows with the square of the factors, a step's rest
// linearly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// The move of factor i, from the shocks z of a step:
//     move = drift;  for j = 0, 1, ... i in turn: move = fma(z[j], roots[j], move).
// The drift and each root are a constant, a term or a row, by columns of the original program.
struct factor_move {
    node drift;
    std::vector<node> roots;  // i + 1 roots; empty if no path reads this move
};

struct separated_moves {
    path_program code;                 // normal i of its step is the finished move of factor i
    std::vector<factor_move> factors;  // by number: one for each normal of the step
    // For each number in a row of code's step (columns, then tables): its place in the original row.
    std::vector<std::uint32_t> numbers_of_row;
};

// Empty if p uses normals in another way than this. A missing root does not count as 0: fma by 0 would turn
// -0 into +0.
std::optional<separated_moves> separate_moves(const path_program& p);

path_data data_of_code(const separated_moves& m, const path_data& data);

struct move_numbers {
    std::size_t factors = 0, steps = 0;
    std::vector<double> drifts;  // [step][factor]
    std::vector<double> roots;   // [step][place_of_root(i, j)]

    static constexpr std::size_t place_of_root(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }
    std::size_t roots_per_step() const { return place_of_root(factors, 0); }
};
move_numbers numbers_of_moves(const separated_moves& m, const path_data& data);

}  // namespace tilewalk::program
