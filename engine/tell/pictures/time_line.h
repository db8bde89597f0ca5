// SPDX-License-Identifier: Apache-2.0
// Time lines: rows of dates and time spans, each below its name, over one axis.
#pragma once

#include <string>
#include <vector>

#include "engine/tell/pictures/axis.h"

namespace tilewalk::pictures {

struct moment {
    double at = 0;
    std::string says{};  // the tooltip
    double size = 1;     // of the mark, 1 at most
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
