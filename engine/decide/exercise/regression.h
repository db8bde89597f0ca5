// SPDX-License-Identifier: Apache-2.0
// Least squares by normal equations: sums over blocks of paths in an order of their own, and a factor of
// Cholesky that takes the largest pivot first and leaves out functions that others make up for.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/exercise/least_squares.h"

namespace tilewalk::exercise {

inline constexpr std::size_t paths_of_block = kernels::paths_of_block;
using block_column = std::array<double, paths_of_block>;

// The sum of a[i] b[i] over a block: lanes first, then their tree.
double sum_of_products(const block_column& a, const block_column& b);
// The same for two vectors.
double inner(std::span<const double> a, std::span<const double> b);

// The factor of a positive semidefinite matrix [function][function], of so many functions at most.
class pivoted_factor {
  public:
    pivoted_factor(std::span<const double> matrix, std::size_t functions, std::size_t most_rank);

    std::size_t rank() const { return order_.size(); }
    // By function: the solution for a right-hand side, 0 for functions that are left out.
    std::vector<double> solve(std::span<const double> right) const;

  private:
    std::size_t functions_;
    std::vector<double> scale_, factor_;  // [function][column]
    std::vector<double> inverse_;         // by column: of its pivot
    std::vector<std::size_t> order_;
};

}  // namespace tilewalk::exercise
