// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG that needs nothing from elsewhere: small multiples with round ticks, told apart by dash
// and marker as well as by colour, light on paper and dark on a dark screen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::bench {

struct mark {
    std::optional<double> x;  // nothing: it holds for every x, and is drawn as a level
    double y = 0;
    std::optional<std::pair<double, double>> bar;  // from, to
    std::string says;                              // to those who point at it
    bool on_line = true;                           // else it stands beside, small
};

struct chart_line {
    std::string name;
    std::size_t style = 0;  // lines of one style look alike in all charts
    std::vector<mark> marks;
};

struct panel {
    std::string title;
    std::size_t row = 0, column = 0;
    std::size_t scale = 0;  // panels that share it have the same y axis
    std::vector<chart_line> lines;
};

struct chart {
    std::string title, x_title, y_title;
    std::optional<double> level;  // a thin line across, such as that of equal speed
    std::vector<panel> panels;
};

// A file of its own.
std::string svg(const chart& of);
// For a page that has chart_style() in its head.
std::string inline_svg(const chart& of);
std::string chart_style();

// Text for XML and HTML, with controls made visible.
std::string escaped(std::string_view text);

// Round numbers from at most `low` to at least `high`, about `about` of them: 1, 2 or 5 times a power of ten
// apart.
std::vector<double> round_ticks(double low, double high, int about);

}  // namespace tilewalk::bench
