// SPDX-License-Identifier: Apache-2.0
// Bars below each other, each with its name, its value and how far that varies.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::pictures {

struct named_bar {
    std::string name;
    double value = 0;
    std::string text;                       // the value, as it is read
    std::pair<double, double> range{0, 0};  // from, to; equal where nothing is known of it
    std::string says{};                     // shown when the mouse points at it
};

// Bars from zero, on a scale that ends at `highest`, so that several pictures may share one. Values that are
// no number, or below zero, are told and have no bar.
std::string bar_chart(std::string_view title, const std::vector<named_bar>& bars, double highest);

// Its style, in the colours --ink and --accent.
std::string bar_chart_style();

}  // namespace tilewalk::pictures
