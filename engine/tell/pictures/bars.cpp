// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/bars.h"

#include <algorithm>
#include <cmath>

#include "engine/tell/pictures/svg.h"

namespace tilewalk::pictures {

namespace {

constexpr double height = 14, middle = 7, indent = 3;

double place(double x, const axis& by, double width) {
    return indent + std::clamp(by.place(x), 0.0, 1.0) * (width - 2 * indent);
}

bool has_zero(const axis& by) {
    return !by.by_logarithm && by.low <= 0 && by.high >= 0;
}

std::string whisker(const value_with_bar& of, const axis& by, double width) {
    if (!std::isfinite(of.low) || !std::isfinite(of.high)) return {};
    const double from = place(of.low, by, width), to = place(of.high, by, width);
    if (to - from < 1) return {};
    return "<path d=\"M" + px(from) + " 4v6M" + px(from) + " 7H" + px(to) + "M" + px(to) + " 4v6\"/>";
}

std::string small(const std::string& body, double width) {
    return "<svg class=\"bar\" aria-hidden=\"true\" viewBox=\"0 0 " + px(width) + " 14\" width=\"" +
           px(width) + "\" height=\"14\">" + body + "</svg>";
}

std::string zero_line(const axis& by, double width) {
    return has_zero(by) ? "<path class=\"zero\" d=\"M" + px(place(0, by, width)) + " 0v14\"/>" : "";
}

}  // namespace

std::string error_bar(const value_with_bar& of, const axis& by, double width) {
    std::string body = zero_line(by, width) + whisker(of, by, width);
    if (std::isfinite(of.value))
        body += "<circle cx=\"" + px(place(of.value, by, width)) + "\" cy=\"" + px(middle) + "\" r=\"2.5\"/>";
    return small(body, width);
}

std::string bar_with_error(const value_with_bar& of, const axis& by, double width) {
    std::string body;
    if (std::isfinite(of.value)) {
        const double from = has_zero(by) ? place(0, by, width) : indent, to = place(of.value, by, width);
        body = "<rect x=\"" + px(std::min(from, to)) + "\" y=\"3\" width=\"" +
               px(std::max(std::abs(to - from), 1.0)) + "\" height=\"8\"/>";
    }
    return small(body + zero_line(by, width) + whisker(of, by, width), width);
}

std::string histogram(std::vector<double> values, const std::vector<level>& levels, std::string_view x_title,
                      std::string_view name) {
    constexpr double width = 340, left = 34, right = 330, bottom = 150, line = 14;
    const double top = 10 + line * static_cast<double>(levels.size());
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    if (values.empty()) return {};
    const auto [low, high] = std::ranges::minmax(values);
    axis xs{.ticks = round_ticks(low, high > low ? high : low + std::max(1.0, std::abs(low)), 6)};
    xs.low = xs.ticks.front();
    xs.high = xs.ticks.back();
    const std::size_t bars =
        std::clamp<std::size_t>(static_cast<std::size_t>(2 * std::sqrt(values.size())), 8, 40);
    std::vector<double> counts(bars, 0.0);
    for (const double x : values) {
        const auto bar = static_cast<std::size_t>(xs.place(x) * static_cast<double>(bars));
        counts[std::min(bar, bars - 1)] += 1;
    }
    const axis ys = y_axis({0.0, std::ranges::max(counts)}, false);
    const auto x_at = [&](double x) { return left + xs.place(x) * (right - left); };
    const auto y_at = [&](double y) { return bottom - ys.place(y) * (bottom - top); };
    std::string body;
    for (const double tick : ys.ticks) {
        if (tick != std::floor(tick)) continue;
        body += stroke(left, y_at(tick), right, y_at(tick), "class=\"rule\"") +
                text_at(left - 5, y_at(tick) + 4, "end", tick_text(tick));
    }
    const double wide = (right - left) / static_cast<double>(bars);
    for (std::size_t b = 0; b < bars; ++b) {
        if (counts[b] == 0) continue;
        body += "<rect x=\"" + px(left + wide * static_cast<double>(b) + 0.5) + "\" y=\"" +
                px(y_at(counts[b])) + "\" width=\"" + px(wide - 1) + "\" height=\"" +
                px(bottom - y_at(counts[b])) + "\"/>\n";
    }
    body += stroke(left, bottom, right, bottom, "class=\"edge\"");
    double free_from = 0;
    for (const double tick : xs.ticks) {
        const std::string text = tick_text(tick);
        const double half = 0.5 * width_of(text);
        const double x = std::clamp(x_at(tick), half, width - half);
        if (x - half < free_from) continue;
        body += text_at(x, bottom + 16, "middle", text);
        free_from = x + half + 6;
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double x = x_at(std::clamp(levels[i].at, xs.low, xs.high));
        const double y = 10 + line * static_cast<double>(i);
        const bool is_left = x > 0.5 * (left + right);
        body += stroke(x, y - 4, x, bottom, "class=\"level\"") +
                text_at(is_left ? x - 4 : x + 4, y + 4, is_left ? "end" : "start", levels[i].name);
    }
    body += text_at(0.5 * (left + right), bottom + 33, "middle", x_title, " class=\"quiet\"");
    return framed(width, bottom + 40, "histogram", name, body);
}

std::string bar_style() {
    return ".bar{display:block;overflow:visible}\n"
           ".bar path{stroke:var(--ink);stroke-width:1.2;fill:none}\n"
           ".bar path.zero{stroke:var(--rule)}\n"
           ".bar circle{fill:var(--accent)}\n"
           ".bar rect,.histogram rect{fill:var(--accent)}\n"
           ".bar rect{fill-opacity:.75}\n"
           ".histogram{max-width:100%;height:auto}\n"
           ".histogram text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:var(--ink)}\n"
           ".histogram .quiet{fill:var(--quiet)}\n"
           ".histogram .rule{stroke:var(--rule)}\n"
           ".histogram .edge{stroke:var(--quiet)}\n"
           ".histogram .level{stroke:var(--alarm);stroke-width:1.5;stroke-dasharray:4 2}\n";
}

}  // namespace tilewalk::pictures
