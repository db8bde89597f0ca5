// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG that needs no other file: panels with round ticks, in light and dark colours. Dashes and
// marks tell lines apart, as well as colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::pictures {

struct mark {
    std::optional<double> x;  // empty: the value holds for every x, as a horizontal line
    double y = 0;
    std::optional<std::pair<double, double>> bar;  // ends of the error bar
    std::string says;                              // tooltip
    bool on_line = true;                           // false: drawn small, and not joined by the line
};

struct chart_line {
    std::string name;
    std::size_t style = 0;  // lines of one style look the same in every chart
    std::vector<mark> marks;
};

struct panel {
    std::string title;
    std::size_t row = 0, column = 0;
    std::size_t scale = 0;  // panels with equal numbers share a y axis
    std::vector<chart_line> lines;
};

struct chart {
    std::string title, x_title, y_title;
    std::optional<double> level;  // draws a thin horizontal line at this y
    // Asks for a logarithmic y axis, which is drawn if all values are above zero. Values that span more than
    // a factor of 50 have one in any case.
    bool by_logarithm = false;
    std::vector<panel> panels;
    double width = 960;       // in pixels; shrinks with a narrower page
    double panel_height = 0;  // in pixels; 0 to choose it by the number of panels
};

std::string svg(const chart& of);
// The chart's SVG for a page whose head contains chart_style().
std::string inline_svg(const chart& of);
std::string chart_style();

}  // namespace tilewalk::pictures
