// SPDX-License-Identifier: Apache-2.0
// A chart of horizontal bars, each with its name, its value and an error bar.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::pictures {

struct named_bar {
    std::string name;
    double value = 0;
    std::string text;                       // the value, formatted
    std::pair<double, double> range{0, 0};  // the ends of the error bar; equal if unknown
    std::string says{};                     // the tooltip
};

// Bars from zero on a scale that ends at `highest`, which several charts may share. A value that is not
// finite or is below zero has its text but no bar.
std::string bar_chart(std::string_view title, const std::vector<named_bar>& bars, double highest);

std::string bar_chart_style();

}  // namespace tilewalk::pictures
