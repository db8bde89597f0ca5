// SPDX-License-Identifier: Apache-2.0
// The tail of many gains: its quantile, and the mean of the gains in it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewalk::risk {

// The place of the quantile among so many gains in ascending order, the first being 1: one more than the
// whole number of gains that lie within the level. It is the value at risk of textbooks, the least loss that
// is not exceeded with probability 1 - level, and what ORE has (its quantile of gains is the one of boost
// from the right, at place n - ceil(n (1 - level)) + 1). Products n * level that are whole but for rounding
// count as whole.
std::size_t place_of_quantile(double level, std::size_t gains);

struct tail_values {
    double quantile = 0;
    double shortfall = 0;    // the mean of all gains that are no greater than the quantile
    std::size_t within = 0;  // the number of these, more than the place where gains are alike
};

// Finds the tails of one list of gains after another, all for the same places.
class tail_finder {
  public:
    explicit tail_finder(std::vector<std::size_t> places);
    // By place, in their order. The gains are finite, and at least as many as the greatest place. The same
    // gains in the same order give the same bits.
    std::span<const tail_values> of(std::span<const double> gains);

  private:
    std::vector<std::size_t> places_;
    std::vector<std::size_t> falling_;  // indices into the places, the greatest place first
    std::vector<double> sorted_;
    std::vector<tail_values> found_;
};

}  // namespace tilewalk::risk
