// SPDX-License-Identifier: Apache-2.0
// Activity: the values of a path program that depend on wanted numbers by a derivative. Comparisons and
// floors do not, whatever they compare.
#pragma once

#include <cstddef>
#include <vector>

#include "products/program/adjoint.h"

namespace tilewalk::program {

class active_values {
  public:
    active_values(const path_program& p, const wanted_numbers& wanted);

    const std::vector<bool>& states() const { return states_; }
    // By node of the section.
    std::vector<bool> of(std::size_t section) const;

  private:
    bool is_active(const node& n, std::size_t section, const std::vector<bool>& before) const;

    const path_program& of_;
    const wanted_numbers& wanted_;
    std::vector<bool> states_;
};

}  // namespace tilewalk::program
