// SPDX-License-Identifier: Apache-2.0
// Axes of pictures, linear and logarithmic, with round ticks.
#pragma once

#include <string>
#include <vector>

namespace tilewalk::pictures {

// About `about` round numbers, 1, 2 or 5 times a power of ten apart, from at most `low` to at least `high`.
std::vector<double> round_ticks(double low, double high, int about);

struct axis {
    double low = 0, high = 1;
    bool by_logarithm = false;
    std::vector<double> ticks;

    // The place of x in [0, 1].
    double place(double x) const;
};

// An axis over the values in whole ticks, from zero if linear. Logarithmic if the values span more than a
// factor of 50, or if `by_logarithm` is set and all are above zero.
axis y_axis(const std::vector<double>& values, bool by_logarithm);
// Ticks at the values themselves if they are few, else at round numbers.
axis x_axis(std::vector<double> values);

// Formats a tick, such as "512", "64 Ki", "2.5", "1e9".
std::string tick_text(double x);

}  // namespace tilewalk::pictures
