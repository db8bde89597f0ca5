// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/bar_chart.h"

#include <algorithm>
#include <cmath>

#include "engine/base/columns.h"
#include "engine/tell/pictures/svg.h"

namespace tilewalk::pictures {

namespace {

// Lengths in pixels. A phone shows one chart in a row, a large screen three.
constexpr double page_width = 360, height_of_title = 24, row_height = 19, bar_height = 12;
constexpr double gap = 7, least_bar = 1;
constexpr std::size_t most_of_name = 34;  // in columns of text

}  // namespace

std::string bar_chart(std::string_view title, const std::vector<named_bar>& bars, double highest) {
    double names = 0, values = 0;
    for (const named_bar& b : bars) {
        names = std::max(names, width_of(report::shortened(b.name, most_of_name)));
        values = std::max(values, width_of(b.text));
    }
    const double left = names + gap, room = page_width - left - gap - values - gap;
    const auto place = [&](double x) { return left + std::clamp(x / highest, 0.0, 1.0) * room; };
    std::string body = text_at(0, height_of_title - 9, "start", title, " class=\"title\"");
    double top = height_of_title;
    for (const named_bar& b : bars) {
        const double middle = top + 0.5 * row_height;
        std::string bar;
        double end = left;
        if (std::isfinite(b.value) && b.value >= 0 && highest > 0) {
            end = std::max(place(b.value), left + least_bar);
            bar = "<rect x=\"" + px(left) + "\" y=\"" + px(middle - 0.5 * bar_height) + "\" width=\"" +
                  px(end - left) + "\" height=\"" + px(bar_height) + "\"/>";
            const auto [from, to] = b.range;
            if (place(to) - place(from) >= 1) {
                bar += "<path d=\"M" + px(place(from)) + ' ' + px(middle) + 'H' + px(place(to)) + "\"/>";
                end = std::max(end, place(to));
            }
        }
        body += "<g>" + (b.says.empty() ? "" : "<title>" + escaped(b.says) + "</title>") + bar +
                text_at(left - gap, middle + 4, "end", report::shortened(b.name, most_of_name)) +
                text_at(end + gap, middle + 4, "start", b.text, " class=\"value\"") + "</g>\n";
        top += row_height;
    }
    return framed(page_width, top + 2, "bars", title, body);
}

std::string bar_chart_style() {
    return ".bars{max-width:100%;height:auto;display:block}\n"
           ".bars text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:var(--ink)}\n"
           ".bars .title{font-weight:bold}\n"
           ".bars .value{font-variant-numeric:tabular-nums}\n"
           ".bars rect{fill:var(--accent);fill-opacity:.75}\n"
           ".bars path{stroke:var(--ink);stroke-width:1.2}\n";
}

}  // namespace tilewalk::pictures
