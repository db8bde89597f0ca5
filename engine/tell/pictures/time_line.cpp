// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/time_line.h"

#include <algorithm>

#include "engine/base/columns.h"
#include "engine/tell/pictures/svg.h"
#include "tilewalk/printable.h"

namespace tilewalk::pictures {

namespace {

std::string title(const std::string& says) {
    return says.empty() ? "" : "<title>" + escaped(says) + "</title>";
}

}  // namespace

std::string time_line(const std::vector<time_row>& rows, const axis& by, double left, double right,
                      double top) {
    const auto x_at = [&](double t) { return left + std::clamp(by.place(t), 0.0, 1.0) * (right - left); };
    const auto room = static_cast<std::size_t>((right - left) / character_width);
    std::string out;
    for (const time_row& row : rows) {
        const double y = top + 26;
        out += text_at(left, top + 12, "start", report::shortened(printable(row.name), room));
        out += stroke(left, y, right, y, "class=\"rule\"");
        const std::string kind = row.is_accented ? "when accent" : "when";
        for (const span_of_time& s : row.spans) {
            const double from = x_at(s.from), to = x_at(s.to);
            out += "<rect class=\"" + kind + "\" x=\"" + px(from) + "\" y=\"" + px(y - 3) + "\" width=\"" +
                   px(std::max(to - from, 1.0)) + "\" height=\"6\">" + title(s.says) + "</rect>\n";
        }
        // Dates less than a pixel apart share one mark.
        double last = -1e300;
        for (const moment& m : row.moments) {
            const double x = x_at(m.at);
            if (x - last < 1) continue;
            last = x;
            out += "<circle class=\"" + kind + "\" cx=\"" + px(x) + "\" cy=\"" + px(y) + "\" r=\"" +
                   px(2 + 3 * std::clamp(m.size, 0.0, 1.0)) + "\">" + title(m.says) + "</circle>\n";
        }
        top += height_of_time_row;
    }
    return out;
}

std::string time_line_style() {
    return ".when{fill:var(--quiet);fill-opacity:.8}\n.when.accent{fill:var(--alarm)}\n"
           ".rule{stroke:var(--rule)}\n";
}

}  // namespace tilewalk::pictures
