// SPDX-License-Identifier: Apache-2.0
// Line charts as self-contained SVG: small multiples with round ticks, in light and dark colours. Dashes and
// markers tell the lines apart as well as colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::pictures {

struct mark {
    std::optional<double> x;  // empty for a mark that holds for every x and is drawn as a level
    double y = 0;
    std::optional<std::pair<double, double>> bar;  // the ends of the error bar
    std::string says;                              // the tooltip
    bool on_line = true;                           // otherwise drawn small, beside the line
};

struct chart_line {
    std::string name;
    std::size_t style = 0;  // lines of the same style look alike in all charts
    std::vector<mark> marks;
};

struct panel {
    std::string title;
    std::size_t row = 0, column = 0;
    std::size_t scale = 0;  // panels with the same number share a y axis
    std::vector<chart_line> lines;
};

struct chart {
    std::string title, x_title, y_title;
    std::optional<double> level;  // a thin horizontal line, such as at equal speed
    // Makes the y axis logarithmic if all values are above zero. Values that span more than a factor of 50
    // always have a logarithmic axis.
    bool by_logarithm = false;
    std::vector<panel> panels;
    double width = 960;       // in pixels; the drawing shrinks with a narrower page
    double panel_height = 0;  // in pixels; 0 to choose by the number of panels
};

std::string svg(const chart& of);
// The chart for a page that has chart_style() in its head.
std::string inline_svg(const chart& of);
std::string chart_style();

}  // namespace tilewalk::pictures
