// SPDX-License-Identifier: Apache-2.0
// Time lines: rows of dates and spans of time over one axis, with each row's name above it.
#pragma once

#include <string>
#include <vector>

#include "engine/tell/pictures/axis.h"

namespace tilewalk::pictures {

struct moment {
    double at = 0;
    std::string says{};  // tooltip
    double size = 1;     // size of the mark, from 0 to 1
};
struct span_of_time {
    double from = 0, to = 0;
    std::string says{};
};
struct time_row {
    std::string name;
    std::vector<moment> moments{};
    std::vector<span_of_time> spans{};
    bool is_accented = false;
};

inline constexpr double height_of_time_row = 36;
std::string time_line(const std::vector<time_row>& rows, const axis& by, double left, double right,
                      double top);
std::string time_line_style();

}  // namespace tilewalk::pictures
