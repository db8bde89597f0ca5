// SPDX-License-Identifier: Apache-2.0
// Small pictures inside a line or a cell of text, and histograms. Small pictures are hidden from screen
// readers, because the numbers stand beside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tell/pictures/axis.h"

namespace tilewalk::pictures {

// A value with its error bar; not drawn if it is not finite.
struct value_with_bar {
    double value = 0, low = 0, high = 0;
};
// A dot with its error bar. A thin line marks zero if the axis contains it.
std::string error_bar(const value_with_bar& of, const axis& by, double width = 120);
// A bar with an error bar at its end, from zero or from the low end of an axis without zero.
std::string bar_with_error(const value_with_bar& of, const axis& by, double width = 120);

struct level {
    double at = 0;
    std::string name;
};
// A histogram with bars of equal widths; `name` is for screen readers.
std::string histogram(std::vector<double> values, const std::vector<level>& levels, std::string_view x_title,
                      std::string_view name);

std::string bar_style();

}  // namespace tilewalk::pictures
