// SPDX-License-Identifier: Apache-2.0
// Small pictures that stand in a line or a cell of text, and histograms. Numbers stand beside the small ones,
// so that they are hidden from those who hear a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tell/pictures/axis.h"

namespace tilewalk::pictures {

// A value with its error bar on an axis; one that is no number is left out.
struct value_with_bar {
    double value = 0, low = 0, high = 0;
};
// A dot with its error bar; a thin line marks zero where the axis has it.
std::string error_bar(const value_with_bar& of, const axis& by, double width = 120);
// A bar from zero, or from the low end of an axis that has no zero, with an error bar at its end.
std::string bar_with_error(const value_with_bar& of, const axis& by, double width = 120);

// A line across a histogram.
struct level {
    double at = 0;
    std::string name;
};
// How often values come about, in bars of equal widths; `name` is for those who do not see it.
std::string histogram(std::vector<double> values, const std::vector<level>& levels, std::string_view x_title,
                      std::string_view name);

// The style of all of these, in the colours --ink, --quiet, --rule, --accent and --paper.
std::string bar_style();

}  // namespace tilewalk::pictures
