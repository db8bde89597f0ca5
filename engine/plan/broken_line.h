// SPDX-License-Identifier: Apache-2.0
// Functions of one number from 0 on whose graph is a broken line, such as what an option pays.
#pragma once

#include <span>
#include <vector>

#include "products/program/program.h"

namespace tilewalk::plan {

// at_zero + slope x + the sum of change max(x - at, 0) over its kinks, which are in rising order.
struct broken_line {
    struct kink {
        double at = 0, change = 0;  // of the slope
    };
    double at_zero = 0, slope = 0;
    std::vector<kink> kinks{};

    bool is_constant() const { return slope == 0 && kinks.empty(); }
    // The sizes of its kinks: of how many options it is made, beside the number itself.
    double options() const;
};

broken_line operator+(const broken_line& a, const broken_line& b);
broken_line operator*(const broken_line& a, double by);
// max(a, 0).
broken_line positive_part(const broken_line& a);

// The states after a section has run once, from those before; none where one of them becomes anything but a
// broken line. `terms` and `row` are its numbers.
bool run_on_lines(const program::section& code, std::span<const double> terms, std::span<const double> row,
                  std::vector<broken_line>& states);

}  // namespace tilewalk::plan
