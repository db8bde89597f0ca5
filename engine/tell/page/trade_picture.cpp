// SPDX-License-Identifier: Apache-2.0
// The picture of a trade: its dates on a time line, and some of its paths below.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/pictures/svg.h"
#include "engine/tell/pictures/time_line.h"
#include "tilewalk/page.h"
#include "tilewalk/printable.h"

namespace tilewalk {

namespace {

using namespace pictures;
using report::counted;

constexpr double width = 720, left = 64, panel_height = 150, line_height = 15;
constexpr std::size_t most_panels = 6, most_rows = 12, most_points = 400;

// In a plan, "from here: watch (line 3)" begins a span of time, and "until here: watch (line 3)" ends it.
constexpr std::string_view begins = "from here: ", ends = "until here: ";

std::vector<time_row> rows_of(const trade_plan& plan) {
    std::vector<time_row> out;
    std::map<std::string, std::vector<std::string>, std::less<>> labels;
    const auto row_of = [&](std::string_view name) -> time_row& {
        auto at = std::ranges::find(out, name, &time_row::name);
        if (at == out.end()) at = out.insert(at, time_row{std::string(name)});
        return *at;
    };
    for (const auto& date : plan.dates) {
        for (const std::string& block : date.blocks) {
            const std::string_view text(block);
            if (text.starts_with(begins)) {
                row_of(text.substr(begins.size())).spans.push_back({date.years, date.years, date.label});
                labels[block.substr(begins.size())].push_back(date.label);
            } else if (text.starts_with(ends)) {
                time_row& row = row_of(text.substr(ends.size()));
                if (row.spans.empty()) row.spans.push_back({date.years, date.years, {}});
                row.spans.back().to = date.years;
                row.spans.back().says += " to " + date.label;
                labels[block.substr(ends.size())].push_back(date.label);
            } else {
                row_of(text).moments.push_back({date.years, date.label, 0.6});
                labels[block].push_back(date.label);
            }
        }
    }
    for (time_row& row : out) {
        const std::vector<std::string>& of = labels[row.name];
        const std::string plain = row.name;
        if (!row.spans.empty())
            row.name += ": at every moment, " + of.front() + " to " + of.back();
        else if (of.size() == 1)
            row.name += ": " + of.front();
        else
            row.name += ": " + counted(of.size(), "date") + ", " + of.front() + " to " + of.back();
    }
    return out;
}

// The dates on which a payment of some path changes by more than rounding, so that more of it is known.
time_row payments_of(const trade_paths& paths) {
    time_row row{"known to be paid, on these paths", {}, {}, true};
    double largest = 0;
    for (const auto& of_path : paths.paid)
        for (const double x : of_path) largest = std::max(largest, std::abs(x));
    for (std::size_t s = 1; s < paths.years.size(); ++s) {
        std::size_t count = 0;
        for (const auto& of_path : paths.paid)
            if (std::abs(of_path[s] - of_path[s - 1]) > 1e-12 * largest) ++count;
        if (count > 0)
            row.moments.push_back({paths.years[s],
                                   counted(count, "path") + " of " + std::to_string(paths.paths()),
                                   static_cast<double>(count) / static_cast<double>(paths.paths())});
    }
    return row;
}

struct amount_level {
    std::string name;
    double at = 0;
};

// Terms of the trade that are amounts, such as a strike, and lie near the range of the asset's paths.
std::vector<amount_level> levels_of(const trade_plan& plan, std::size_t asset, double low, double high) {
    std::vector<amount_level> out;
    const double room = 0.5 * (high - low);
    for (const trade_term& term : plan.terms) {
        if (term.type != "amount") continue;
        const bool is_by_asset = term.is_list && term.numbers.size() == plan.assets.size() &&
                                 std::ranges::none_of(plan.terms, [&](const trade_term& other) {
                                     return other.name == term.per && other.type == "schedule";
                                 });
        if (term.is_list && !is_by_asset) continue;
        if (term.numbers.empty() || term.numbers.size() <= (is_by_asset ? asset : 0)) continue;
        const double x = term.numbers[is_by_asset ? asset : 0];
        if (x >= low - room && x <= high + room)
            out.push_back({term.name + " " + report::significant(x, 6), x});
    }
    return out;
}

struct lines_panel {
    std::string title;
    const std::vector<std::vector<double>>* lines;
    std::vector<amount_level> levels{};
    bool is_stepped = false;
};

std::string panel_text(const lines_panel& of, const std::vector<double>& years, const axis& xs, double right,
                       double top) {
    double low = 1e300, high = -1e300;
    const auto take = [&](double x) {
        if (!std::isfinite(x)) return;
        low = std::min(low, x);
        high = std::max(high, x);
    };
    for (const auto& line : *of.lines) std::ranges::for_each(line, take);
    for (const amount_level& l : of.levels) take(l.at);
    if (low > high) low = 0, high = 1;
    if (const double room = std::max(0.5, 0.01 * std::abs(low)); !(high > low)) low -= room, high += room;
    axis ys{0, 1, false, round_ticks(low, high, 4)};
    ys.low = ys.ticks.front();
    ys.high = ys.ticks.back();
    const double from = top + 24, to = top + panel_height - 8;
    const auto x_at = [&](double t) { return left + xs.place(t) * (right - left); };
    const auto y_at = [&](double y) { return to - ys.place(y) * (to - from); };
    std::string out =
        text_at(left, top + 13, "start", report::shortened(printable(of.title), 80), " class=\"name\"");
    for (const double tick : ys.ticks)
        out += stroke(left, y_at(tick), right, y_at(tick), "class=\"rule\"") +
               text_at(left - 6, y_at(tick) + 4, "end",
                       tick_text(std::abs(tick) < 1e-12 * (high - low) ? 0 : tick), " class=\"quiet\"");
    if (xs.low < 0) out += stroke(x_at(0), from, x_at(0), to, "class=\"today\"");
    const std::size_t stride = years.size() / most_points + 1;
    for (std::size_t p = of.lines->size(); p-- > 0;) {
        const std::vector<double>& line = (*of.lines)[p];
        std::string d;
        for (std::size_t s = 0; s < line.size(); ++s) {
            if (!std::isfinite(line[s]) || (s % stride != 0 && s + 1 != line.size())) continue;
            const std::string x = px(x_at(years[s])), y = px(y_at(line[s]));
            d += d.empty() ? "M" + x + " " + y : of.is_stepped ? "H" + x + "V" + y : "L" + x + " " + y;
        }
        out += "<path class=\"path" + std::string(p == 0 ? " first" : "") + "\" d=\"" + d +
               "\"><title>path " + std::to_string(p) + "</title></path>\n";
    }
    std::vector<amount_level> levels = of.levels;
    std::ranges::stable_sort(levels, std::ranges::greater{}, &amount_level::at);
    double free_from = from - line_height;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double y = y_at(levels[i].at);
        const double left_below = line_height * static_cast<double>(levels.size() - 1 - i);
        const double name_at =
            std::clamp(y, free_from + line_height, std::max(to - left_below, free_from + line_height));
        free_from = name_at;
        out += stroke(left, y, right, y, "class=\"level\"") +
               stroke(right, y, right + 8, name_at, "class=\"leader\"") +
               text_at(right + 11, name_at + 4, "start", report::shortened(printable(levels[i].name), 24));
    }
    return out;
}

std::string style_of_picture() {
    return ".trade{--ink:#1b2026;--quiet:#59626d;--rule:#d9dde2;--accent:#0065a8;--alarm:#b3400a;--paper:#"
           "fff;"
           "max-width:100%;height:auto}\n"
           "@media screen and "
           "(prefers-color-scheme:dark){.trade{--ink:#e6e9ec;--quiet:#a5aeb8;--rule:#363c43;"
           "--accent:#66b5f0;--alarm:#ff9a62;--paper:#14171a}}\n"
           ".trade text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:var(--ink)}\n"
           ".trade .title{font-size:15px;font-weight:600}\n.trade .name{font-weight:600}\n"
           ".trade .quiet{fill:var(--quiet)}\n.trade .paper{fill:var(--paper)}\n"
           ".trade "
           ".path{fill:none;stroke:var(--accent);stroke-width:1.1;stroke-opacity:.5;stroke-linejoin:round}\n"
           ".trade .first{stroke-width:2.2;stroke-opacity:1}\n"
           ".trade .level{fill:none;stroke:var(--alarm);stroke-width:1.4;stroke-dasharray:6 3}\n"
           ".trade .leader{stroke:var(--quiet)}\n"
           ".trade .today{stroke:var(--quiet);stroke-dasharray:2 3}\n";
}

}  // namespace

std::string picture_of(const trade_plan& plan, const trade_paths& paths) {
    // The time axis starts at the first date of the trade if it lies before today.
    double first = 0, last = paths.years.empty() ? 0 : paths.years.back();
    for (const auto& date : plan.dates) {
        first = std::min(first, date.years);
        last = std::max(last, date.years);
    }
    if (!(last > first)) last = first + 1;
    axis xs{first, last, false, {}};
    for (const double tick : round_ticks(first, last, 8))
        if (tick >= first && tick <= last) xs.ticks.push_back(tick);

    std::vector<lines_panel> panels;
    double margin = 24;
    for (std::size_t a = 0; a < std::min(paths.assets.size(), most_panels); ++a) {
        lines_panel& one = panels.emplace_back(lines_panel{paths.assets[a], &paths.spots[a]});
        double low = 1e300, high = -1e300;
        for (const auto& line : paths.spots[a]) {
            low = std::min(low, std::ranges::min(line));
            high = std::max(high, std::ranges::max(line));
        }
        one.levels = levels_of(plan, a, low, high);
        if (a < plan.asset_list.size()) one.title += ", " + plan.asset_list[a].currency;
        for (const amount_level& l : one.levels)
            margin = std::max(margin, 20 + width_of(report::shortened(printable(l.name), 24)));
    }
    const double right = width - margin;
    const auto x_at = [&](double t) { return left + xs.place(t) * (right - left); };

    std::string body =
        text_at(left, 24, "start",
                report::shortened(printable(plan.trade + ": " + plan.product + ", " + plan.currency), 60),
                " class=\"title\"");
    std::string says = "as of " + paths.as_of;
    if (paths.paths() > 0)
        says += "; paths 0 to " + std::to_string(paths.paths() - 1) + " of seed " +
                std::to_string(paths.seed) + ", " + paths.random;
    else
        says += "; nothing random is to come, so there are no paths";
    body += text_at(left, 42, "start", report::shortened(printable(says), 96), " class=\"quiet\"");
    double top = 50;
    if (plan.ends_early) {
        body +=
            text_at(left, top + 9, "start", "rights are there on their dates; on these paths nobody uses one",
                    " class=\"quiet\"");
        top += 18;
    }

    std::vector<time_row> rows = rows_of(plan);
    const std::size_t left_out = rows.size() > most_rows ? rows.size() - most_rows : 0;
    rows.resize(rows.size() - left_out);
    time_row payments = payments_of(paths);
    const bool any_paid = !payments.moments.empty();
    if (any_paid) rows.push_back(std::move(payments));
    body += time_line(rows, xs, left, right, top);
    top += height_of_time_row * static_cast<double>(rows.size()) + 4;
    if (any_paid)
        panels.push_back({"known to be paid so far, discounted, " + paths.currency, &paths.paid, {}, true});
    for (const lines_panel& one : panels) {
        body += panel_text(one, paths.years, xs, right, top);
        top += panel_height;
    }
    body += stroke(left, top, right, top, "class=\"leader\"");
    for (const double tick : xs.ticks)
        body += stroke(x_at(tick), top, x_at(tick), top + 4, "class=\"leader\"") +
                text_at(x_at(tick), top + 17, "middle", tick_text(std::abs(tick) < 1e-9 ? 0 : tick),
                        " class=\"quiet\"");
    top += 34;
    body += text_at(0.5 * (left + right), top, "middle", "years from " + paths.as_of, " class=\"quiet\"");
    top += 20;

    double x = left;
    const auto entry = [&](const std::string& sample, const std::string& name) {
        const double wide = 34 + width_of(name) + 14;
        if (x > left && x + wide > width - 10) {
            x = left;
            top += 18;
        }
        body += "<g transform=\"translate(" + px(x) + " " + px(top) + ")\">" + sample + "</g>" +
                text_at(x + 30, top + 4, "start", name);
        x += wide;
    };
    const auto sample_line = [](const std::string& kind) {
        return "<path class=\"" + kind + "\" d=\"M0 0H24\"/>";
    };
    if (paths.paths() > 0) {
        entry(sample_line("path first"), "path 0");
        if (paths.paths() > 1) entry(sample_line("path"), "other paths");
    }
    if (std::ranges::any_of(panels, [](const lines_panel& p) { return !p.levels.empty(); }))
        entry(sample_line("level"), "amounts among the terms");
    entry("<circle class=\"when\" cx=\"12\" cy=\"0\" r=\"4\"/>", "dates of the script");
    if (any_paid)
        entry("<circle class=\"when accent\" cx=\"12\" cy=\"0\" r=\"5\"/>", "more paths pay, larger dot");
    std::string notes;
    if (left_out > 0) notes += counted(left_out, "other row") + " of dates ";
    if (paths.assets.size() > most_panels)
        notes +=
            (notes.empty() ? "" : "and ") + counted(paths.assets.size() - most_panels, "other asset") + " ";
    if (!notes.empty()) {
        top += 20;
        body += text_at(left, top + 4, "start", notes + "not shown", " class=\"quiet\"");
    }
    top += 18;
    return framed(width, top, "trade", "Dates and paths of " + plan.trade,
                  "<style>\n" + style_of_picture() + time_line_style() +
                      "</style>\n<rect class=\"paper\" width=\"" + px(width) + "\" height=\"" + px(top) +
                      "\"/>\n" + body);
}

}  // namespace tilewalk
