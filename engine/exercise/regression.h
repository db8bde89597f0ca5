// SPDX-License-Identifier: Apache-2.0
// Least squares by normal equations: sums over paths in an order of their own, whatever the number of
// threads, and a factor of Cholesky that takes the largest pivot first and leaves out functions that others
// make up for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::exercise {

// The sum of a[i] b[i].
double sum_of_products(const double* a, const double* b, std::size_t count);

// A positive semidefinite system of equations with some right-hand sides.
class normal_equations {
  public:
    explicit normal_equations(std::size_t functions, std::size_t sides = 1)
        : functions_(functions), sides_(sides), matrix_(functions * functions), right_(functions * sides) {}

    // Columns of numbers by function and by right-hand side, of so many paths. Paths that do not count have 0
    // in every column of functions.
    void add(std::span<const double* const> functions, std::span<const double* const> right,
             std::size_t paths);
    // Puts other right-hand sides in the place of those there are.
    void set_right(std::span<const double* const> functions, std::span<const double* const> right,
                   std::size_t paths);

    double& at(std::size_t i, std::size_t j) { return matrix_[i * functions_ + j]; }
    double& right(std::size_t i, std::size_t side) { return right_[i * sides_ + side]; }

    struct solution {
        std::vector<double> coefficients;  // [side][function]; 0 for those left out
        std::size_t rank = 0;
    };
    // No more functions than `most_rank` are used.
    solution solve(std::size_t most_rank) const;

  private:
    std::size_t functions_, sides_;
    std::vector<double> matrix_, right_;
};

}  // namespace tilewalk::exercise
