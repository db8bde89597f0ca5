// SPDX-License-Identifier: Apache-2.0
// Least squares by normal equations, summed in a fixed order; the Cholesky factor drops dependent functions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/exercise/least_squares.h"

namespace tilewalk::exercise {

inline constexpr std::size_t paths_of_block = kernels::paths_of_block;
using block_column = std::array<double, paths_of_block>;

// Returns the sum of a[i] b[i], first by lane and then over lanes along their tree.
double sum_of_products(const block_column& a, const block_column& b);
double inner(std::span<const double> a, std::span<const double> b);

// The pivoted Cholesky factor of a positive semidefinite matrix [function][function], cut off at `most_rank`.
class pivoted_factor {
  public:
    pivoted_factor(std::span<const double> matrix, std::size_t functions, std::size_t most_rank);

    std::size_t rank() const { return order_.size(); }
    // Returns the coefficient of each function; 0 for functions that the factor dropped.
    std::vector<double> solve(std::span<const double> right) const;

  private:
    std::size_t functions_;
    std::vector<double> scale_, factor_;  // scale_: by function; factor_: [function][column]
    std::vector<double> inverse_;         // 1 / pivot, by column
    std::vector<std::size_t> order_;
};

}  // namespace tilewalk::exercise
