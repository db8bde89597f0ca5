// SPDX-License-Identifier: Apache-2.0
// Small pictures within a line of text or a table cell, and histograms. Screen readers skip the small
// pictures, as the same numbers stand beside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tell/pictures/axis.h"

namespace tilewalk::pictures {

// A value and the ends of its error bar. A value that is not finite is not drawn.
struct value_with_bar {
    double value = 0, low = 0, high = 0;
};
// Draws a dot with its error bar, and a thin line at zero if the axis contains zero.
std::string error_bar(const value_with_bar& of, const axis& by, double width = 120);
// Draws a bar with an error bar at its end. It starts at zero, or at the low end of an axis that lacks zero.
std::string bar_with_error(const value_with_bar& of, const axis& by, double width = 120);

struct level {
    double at = 0;
    std::string name;
};
// A histogram of the values with bars of equal widths. `name` tells screen readers what it shows.
std::string histogram(std::vector<double> values, const std::vector<level>& levels, std::string_view x_title,
                      std::string_view name);

std::string bar_style();

}  // namespace tilewalk::pictures
