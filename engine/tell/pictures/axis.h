// SPDX-License-Identifier: Apache-2.0
// Linear and logarithmic axes of pictures, with ticks at round numbers.
#pragma once

#include <string>
#include <vector>

namespace tilewalk::pictures {

// About `about` round numbers, 1, 2 or 5 times a power of ten apart, that enclose `low` and `high`.
std::vector<double> round_ticks(double low, double high, int about);

struct axis {
    double low = 0, high = 1;
    bool by_logarithm = false;
    std::vector<double> ticks;

    // The position of x on the axis: 0 at its low end, 1 at its high end.
    double place(double x) const;
};

// An axis that spans the values and ends at ticks. Logarithmic if all values are above zero, and they span
// more than a factor of 50 or `by_logarithm` is set. A linear axis contains zero.
axis y_axis(const std::vector<double>& values, bool by_logarithm);
// Has ticks at the values themselves if they are few, otherwise at round numbers.
axis x_axis(std::vector<double> values);

// The label of a tick, such as "512", "64 Ki", "2.5", "1e9".
std::string tick_text(double x);

}  // namespace tilewalk::pictures
