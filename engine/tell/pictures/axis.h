// SPDX-License-Identifier: Apache-2.0
// Axes of pictures, linear and logarithmic, with round ticks.
#pragma once

#include <string>
#include <vector>

namespace tilewalk::pictures {

// Round numbers, 1, 2 or 5 times a power of ten apart, from at most `low` to at least `high`; about `about`
// of them.
std::vector<double> round_ticks(double low, double high, int about);

// An axis from the lowest to the highest value, linear or logarithmic, with its ticks.
struct axis {
    double low = 0, high = 1;
    bool by_logarithm = false;
    std::vector<double> ticks;

    // The place of x in [0, 1].
    double place(double x) const;
};

// The range of the values in whole ticks, from zero if it is linear. Values that span more than a factor of
// 50 have a logarithmic axis, and all that are above zero where one is asked for.
axis y_axis(const std::vector<double>& values, bool by_logarithm);
// Ticks at the values themselves if they are few, at round numbers if they are many.
axis x_axis(std::vector<double> values);

// Texts such as "512", "64 Ki", "2.5", "1e9".
std::string tick_text(double x);

}  // namespace tilewalk::pictures
