// SPDX-License-Identifier: Apache-2.0
// The tail of many gains: its quantile, and the mean of the gains in it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::risk {

// Returns the place of the quantile among gains in ascending order, from 1: one more than the whole number of
// gains within the level. This is the value at risk of textbooks, the least loss that is not exceeded with
// probability 1 - level, and what ORE has (the quantile of boost from the right, at place n - ceil(n (1 -
// level)) + 1). Products n * level that are whole but for rounding count as whole.
std::size_t place_of_quantile(double level, std::size_t gains);

struct tail_values {
    double quantile = 0;
    double shortfall = 0;    // mean of all gains up to the quantile
    std::size_t within = 0;  // their number, more than the place if gains are equal
};

// Finds the tails of many lists of gains, all for the same places.
class tail_finder {
  public:
    explicit tail_finder(std::vector<std::size_t> places);
    // By place. Gains must be finite, and no fewer than the greatest place. Bits depend on their order.
    std::span<const tail_values> of(std::span<const double> gains);

  private:
    std::vector<std::size_t> places_;
    std::vector<std::size_t> falling_;  // indices into places_, the greatest place first
    std::vector<double> sorted_;
    std::vector<tail_values> found_;
};

}  // namespace tilewalk::risk
