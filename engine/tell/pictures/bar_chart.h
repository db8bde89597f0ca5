// SPDX-License-Identifier: Apache-2.0
// A chart of horizontal bars, each with a name, a value and an error bar.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::pictures {

struct named_bar {
    std::string name;
    double value = 0;
    std::string text;                       // the value as shown
    std::pair<double, double> range{0, 0};  // ends of the error bar; equal if the error is unknown
    std::string says{};                     // tooltip
};

// Draws bars from zero on a scale that ends at `highest`; charts with the same `highest` can be compared. A
// value that is below zero or not finite is shown as text without a bar.
std::string bar_chart(std::string_view title, const std::vector<named_bar>& bars, double highest);

std::string bar_chart_style();

}  // namespace tilewalk::pictures
