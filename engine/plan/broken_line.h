// SPDX-License-Identifier: Apache-2.0
// Piecewise linear, continuous functions of x >= 0, such as an option's payoff.
#pragma once

#include <span>
#include <vector>

#include "products/program/program.h"

namespace tilewalk::plan {

// f(x) = at_zero + slope x + the sum of change max(x - at, 0) over the kinks, which are in rising order.
struct broken_line {
    struct kink {
        double at = 0, change = 0;  // of the slope at the kink
    };
    double at_zero = 0, slope = 0;
    std::vector<kink> kinks{};

    bool is_constant() const { return slope == 0 && kinks.empty(); }
    // Returns the number of options that make up the function, beside a constant and the asset itself.
    double options() const;
};

broken_line operator+(const broken_line& a, const broken_line& b);
broken_line operator*(const broken_line& a, double by);
broken_line positive_part(const broken_line& a);

// Runs a section once. Returns false, and leaves `states`, if a state becomes another kind of function.
bool run_on_lines(const program::section& code, std::span<const double> terms, std::span<const double> row,
                  std::vector<broken_line>& states);

}  // namespace tilewalk::plan
