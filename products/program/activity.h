// SPDX-License-Identifier: Apache-2.0
// Activity: which values may have a derivative with respect to wanted numbers. Floors and unsmoothed
// comparisons have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "products/program/adjoint.h"

namespace tilewalk::program {

class active_values {
  public:
    static constexpr std::uint32_t no_normal = ~std::uint32_t{0};
    // `normal` is the slot of a normal number that is wanted as well.
    active_values(const path_program& p, const wanted_numbers& wanted, std::vector<jump> smoothed = {},
                  std::uint32_t normal = no_normal);

    const std::vector<bool>& states() const { return states_; }
    std::vector<bool> active_in(std::size_t section) const;
    // By node: true if the node holds a truth (0 or 1). A condition on another number has no derivative.
    std::vector<bool> truths(std::size_t section) const;

  private:
    void find_truths();
    bool is_active(std::size_t section, std::size_t at, const std::vector<bool>& before,
                   const std::vector<bool>& is_truth) const;

    const path_program& of_;
    const wanted_numbers& wanted_;
    std::vector<jump> smoothed_;
    std::uint32_t normal_;
    std::vector<bool> states_;
    std::vector<bool> holds_truth_;  // by state
};

}  // namespace tilewalk::program
