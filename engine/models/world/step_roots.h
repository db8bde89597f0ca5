// SPDX-License-Identifier: Apache-2.0
// The triangular (Cholesky) root of the covariance matrix of a world's sources, for each step of a grid.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/models/world/members.h"

namespace tilewalk::models {

class step_roots {
  public:
    // Computes all roots. Calls `poll`, which may throw, for every step.
    step_roots(const members& of, std::span<const double> grid, const std::function<void()>& poll);

    // Entry (i, j) of the root of every step; j <= i.
    std::vector<double> entries(std::size_t i, std::size_t j) const;
    // True if the source is correlated with another source on any step.
    bool shares_noise(std::size_t source) const { return shares_noise_[source]; }

  private:
    std::vector<double> root_of(const members& of, double from, double to) const;

    std::size_t sources_;
    std::vector<std::vector<double>> roots_;  // a matrix for each step, row by row
    std::vector<bool> shares_noise_;
};

}  // namespace tilewalk::models
