// SPDX-License-Identifier: Apache-2.0
// The tail of many gains: its quantile, and the mean of the gains in it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::risk {

// Returns the place of the quantile among gains in ascending order, counted from 1: one more than the whole
// number of gains within the level. This is the textbook value at risk, the least loss that is not exceeded
// with probability 1 - level, and ORE's (boost's quantile from the right, at n - ceil(n (1 - level)) + 1). A
// product n * level counts as whole if only rounding keeps it from being so.
std::size_t place_of_quantile(double level, std::size_t gains);

struct tail_values {
    double quantile = 0;
    double shortfall = 0;    // mean of all gains up to the quantile
    std::size_t within = 0;  // gains up to the quantile: more than its place if some are equal
};

// Finds the tails of many lists of gains at the same places of the sorted gains.
class tail_finder {
  public:
    explicit tail_finder(std::vector<std::size_t> places);
    // Returns tails by place. Gains must be finite, and at least as many as the greatest place. Their order
    // decides bits.
    std::span<const tail_values> tails_of(std::span<const double> gains);

  private:
    std::vector<std::size_t> places_;
    std::vector<std::size_t> falling_;  // indices of places_, by falling place
    std::vector<double> sorted_;
    std::vector<tail_values> found_;
};

}  // namespace tilewalk::risk
