// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bench/measure/conditions.h"
#include "bench/measure/table.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/pictures/bar_chart.h"
#include "engine/tell/pictures/chart.h"
#include "engine/tell/pictures/svg.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using namespace pictures;

using row_list = std::vector<const row*>;

constexpr std::size_t most_lines = 8;
constexpr std::size_t best_rows = 10;
constexpr std::size_t most_in_a_line = 44;  // longest text of a table cell, in characters

std::optional<double> finite(const json& in, const std::string& name) {
    const auto at = in.find(name);
    if (at == in.end() || !at->is_number()) return std::nullopt;
    const double x = at->get<double>();
    return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

// A bar from the figure at p90 to the figure at p10: a rate or a ratio falls as the time grows.
std::optional<std::pair<double, double>> bar_against_time(const row& of, double y) {
    const auto ms = finite(of.figures, "milliseconds"), p10 = finite(of.figures, "p10"),
               p90 = finite(of.figures, "p90");
    if (!ms || !p10 || !p90 || *p10 <= 0 || *p90 <= 0) return std::nullopt;
    return std::pair{y * *ms / *p90, y * *ms / *p10};
}

// True if the row has this value on the axis, or lacks the axis, so that it is drawn with every value.
bool fits(const row& r, const char* axis, const json& value) {
    const auto at = r.axes.find(axis);
    return at == r.axes.end() || *at == value;
}

// The distinct values of an axis: numbers in ascending order, words in the order of the rows.
std::vector<json> values_of(const row_list& rows, const char* axis) {
    std::vector<json> out;
    for (const row* r : rows) {
        const auto at = r->axes.find(axis);
        if (at != r->axes.end() && std::ranges::find(out, *at) == out.end()) out.push_back(*at);
    }
    if (std::ranges::all_of(out, [](const json& v) { return v.is_number(); })) {
        std::ranges::stable_sort(out, {}, [](const json& v) { return v.get<double>(); });
    }
    return out;
}

std::string word(const row& of, const char* axis) {
    const auto at = of.axes.find(axis);
    return at == of.axes.end() ? std::string() : cell_of(*at);
}

// The line style of a feed: its place in the catalogue of feeds, so that it looks the same in every chart.
std::size_t style_of_feed(const std::string& feed) {
    const auto known = cuda::feeds();
    const auto at = std::ranges::find(known, feed, &cuda::feed_entry::name);
    return static_cast<std::size_t>(at - known.begin());
}

struct prefetch_group {
    std::string workload, precision;
    row_list rows;  // only rows that have results

    std::string title() const {
        return workload + (workload.empty() || precision.empty() ? "" : ", ") + precision;
    }
};

std::vector<prefetch_group> groups_of(const row_list& rows) {
    std::vector<prefetch_group> out;
    for (const row* r : rows) {
        const std::string workload = word(*r, "workload"), precision = word(*r, "precision");
        auto at = std::ranges::find_if(
            out, [&](const prefetch_group& g) { return g.workload == workload && g.precision == precision; });
        if (at == out.end()) at = out.insert(at, {workload, precision, {}});
        if (r->is_result()) at->rows.push_back(r);
    }
    return out;
}

std::optional<double> ratio_of(const row& r) {
    if (const auto ratio = finite(r.figures, "ratio")) return *ratio > 0 ? ratio : std::nullopt;
    return r.over.is_null() ? std::optional(1.0) : std::nullopt;
}

// The lines of one panel: for each feed through its fastest row at each distance; slower rows are lone marks.
std::vector<chart_line> lines_by_feed(const row_list& rows) {
    std::vector<chart_line> out;
    std::vector<std::map<std::optional<double>, std::size_t>> best;  // by line, then by distance
    for (const row* r : rows) {
        const auto ratio = ratio_of(*r);
        if (!ratio) continue;
        const std::string feed = word(*r, "feed");
        auto line = std::ranges::find(out, feed, &chart_line::name);
        if (line == out.end()) {
            line = out.insert(line, {feed, style_of_feed(feed), {}});
            best.emplace_back();
        }
        mark m{finite(r->axes, "distance"), *ratio, bar_against_time(*r, *ratio), {}, true};
        m.says = described(r->axes) + ": " + report::fixed(*ratio, 2) + " x";
        const auto [at, is_first] =
            best[static_cast<std::size_t>(line - out.begin())].emplace(m.x, line->marks.size());
        if (!is_first) {
            mark& other = line->marks[at->second];
            (m.y > other.y ? other : m).on_line = false;
            if (m.on_line) at->second = line->marks.size();
        }
        line->marks.push_back(std::move(m));
    }
    return out;
}

std::string with_name(const char* name, const json& value) {
    return value.is_null() ? std::string() : cell_of(value) + ' ' + name;
}

// Draws a panel for each occupancy and width (paths a thread). With several widths, each occupancy is a row
// of panels on one scale and each width a column; with one width, occupancies stand side by side.
chart speedup_chart(const prefetch_group& group, const std::string& layout, const std::string& what) {
    chart out;
    out.title = group.title() + ": " + what;
    out.x_title = "distance, steps ahead";
    out.y_title = "speed-up over none";
    out.level = 1;
    row_list rows;
    for (const row* r : group.rows) {
        if (fits(*r, "layout", layout)) rows.push_back(r);
    }
    std::vector<json> warps = values_of(rows, "warps"), widths = values_of(rows, "width");
    if (warps.empty()) warps.emplace_back(nullptr);
    if (widths.empty()) widths.emplace_back(nullptr);
    const std::size_t a_row = warps.size() == 4 ? 2 : 3;
    for (std::size_t w = 0; w < warps.size(); ++w) {
        for (std::size_t v = 0; v < widths.size(); ++v) {
            row_list here;
            for (const row* r : rows) {
                if (fits(*r, "warps", warps[w]) && fits(*r, "width", widths[v])) here.push_back(r);
            }
            panel p;
            const bool grid = widths.size() > 1;
            p.row = grid ? w : w / a_row;
            p.column = grid ? v : w % a_row;
            p.scale = w;
            const std::string name = widths[v] == 1 ? "path a thread" : "paths a thread";
            p.title = with_name("warps", warps[w]);
            if (grid) p.title += (p.title.empty() ? "" : ", ") + with_name(name.c_str(), widths[v]);
            p.lines = lines_by_feed(here);
            out.panels.push_back(std::move(p));
        }
    }
    return out;
}

chart share_chart(const prefetch_group& group) {
    chart out;
    out.title = group.title() + ": share of the copy rate, best row of each feed";
    out.x_title = "warps a multiprocessor";
    out.y_title = "% of the rate of a copy";
    out.level = 100;
    panel p;
    for (const row* r : group.rows) {
        const auto share = finite(r->figures, "share_of_copy"), warps = finite(r->axes, "warps");
        if (!share || !warps) continue;
        const std::string feed = word(*r, "feed");
        auto line = std::ranges::find(p.lines, feed, &chart_line::name);
        if (line == p.lines.end()) line = p.lines.insert(line, {feed, style_of_feed(feed), {}});
        const double y = 100 * *share;
        const mark m{warps, y, bar_against_time(*r, y),
                     described(r->axes) + ": " + three_digits(y) + " % of the copy rate", true};
        const auto same = std::ranges::find(line->marks, m.x, &mark::x);
        if (same == line->marks.end()) {
            line->marks.push_back(m);
        } else if (same->y < y) {
            *same = m;
        }
    }
    if (!p.lines.empty()) out.panels.push_back(std::move(p));
    return out;
}

struct named_chart {
    std::string name;
    chart of;
};

std::string file_name(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out += plain || c == '_' || c == '-' ? c : '_';
    }
    return out;
}

std::vector<named_chart> charts_of(const prefetch_group& group) {
    struct layout {
        const char* name;
        const char* says;
    };
    constexpr std::array<layout, 3> layouts{{{"plain", "shared memory without padding"},
                                             {"padded", "shared memory with padding"},
                                             {"transposed", "shared memory transposed"}}};
    std::vector<named_chart> out;
    const std::vector<json> known = values_of(group.rows, "layout");
    for (const layout& l : layouts) {
        if (std::ranges::find(known, json(l.name)) != known.end()) {
            out.push_back(
                {l.name, speedup_chart(group, l.name, std::string("speed-up over none, ") + l.says)});
        }
    }
    if (known.empty() && !group.rows.empty()) {
        out.push_back({"plain", speedup_chart(group, "plain", "speed-up over none")});
    }
    chart share = share_chart(group);
    if (!share.panels.empty()) out.push_back({"share", std::move(share)});
    for (named_chart& c : out)
        c.name.insert(0, "prefetch-" + file_name(group.workload + '-' + group.precision) + '-');
    return out;
}

// Charts of `convergence`: error against paths, a panel for each case, a chart for each device and precision.
std::vector<named_chart> convergence_charts(const row_list& rows) {
    constexpr std::size_t panels_a_row = 4;
    std::vector<named_chart> out;
    std::vector<std::string> names;  // names of lines, so that a line looks alike in all panels
    for (const row* r : rows) {
        const auto error = finite(r->figures, "error_bp"), paths = finite(r->axes, "paths");
        if (!error || !paths) continue;
        const std::string where = word(*r, "device") + '-' + word(*r, "precision"),
                          chart_name = "convergence-" + file_name(where);
        auto at = std::ranges::find(out, chart_name, &named_chart::name);
        if (at == out.end()) {
            at = out.insert(at, {chart_name, {}});
            at->of.title =
                "standard error of a price by paths, " + word(*r, "device") + ", " + word(*r, "precision");
            at->of.x_title = "paths";
            at->of.y_title = "basis points of the spot or the notional";
            at->of.by_logarithm = true;
        }
        std::vector<panel>& panels = at->of.panels;
        const std::string of = word(*r, "case");
        auto p = std::ranges::find(panels, of, &panel::title);
        if (p == panels.end()) {
            const std::size_t n = panels.size();
            p = panels.insert(p, {of, n / panels_a_row, n % panels_a_row, n, {}});
        }
        const std::string construction = word(*r, "construction");
        std::string name = word(*r, "random") + (construction == "none" ? "" : ", " + construction);
        if (r->axes.contains("controls")) name += ", controls";
        if (r->axes.contains("antithetic")) name += ", pairs";
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        auto line = std::ranges::find(p->lines, name, &chart_line::name);
        if (line == p->lines.end()) {
            const auto style = std::ranges::find(names, name) - names.begin();
            line = p->lines.insert(line, {name, static_cast<std::size_t>(style), {}});
        }
        line->marks.push_back(
            {paths, *error, {}, described(r->axes) + ": " + three_digits(*error) + " bp", true});
    }
    return out;
}

std::vector<named_chart> all_charts(const run& what) {
    std::vector<named_chart> out;
    for (const auto& [suite, rows] : by_suite(what)) {
        if (suite == "convergence") {
            for (named_chart& c : convergence_charts(results_among(rows))) out.push_back(std::move(c));
        }
        if (suite != "prefetch") continue;
        for (const prefetch_group& group : groups_of(rows)) {
            for (named_chart& c : charts_of(group)) {
                const std::string wanted = c.name;
                for (int n = 2; std::ranges::find(out, c.name, &named_chart::name) != out.end(); ++n) {
                    c.name = wanted + '-' + std::to_string(n);
                }
                out.push_back(std::move(c));
            }
        }
    }
    return out;
}

// The name of the figure to draw for these rows: a rate or latency if they have one, else the time.
std::string figure_shown(const row_list& rows) {
    std::string found;
    for (const row* r : rows) {
        for (const auto& [name, value] : r->figures.items()) {
            if (!value.is_number()) continue;
            if (name.ends_with("_per_second") || name == "gflops" || name == "latency_ns") return name;
        }
    }
    return "milliseconds";
}

json other_axes(const row& of, const std::string& without, const std::vector<std::string>& alike) {
    json out = json::object();
    for (const auto& [name, value] : of.axes.items()) {
        if (name != without && std::ranges::find(alike, name) == alike.end()) out[name] = value;
    }
    return out;
}

struct axes_of_rows {
    std::vector<std::string> names, alike;

    explicit axes_of_rows(const row_list& rows) {
        for (const row* r : rows) {
            for (const auto& [name, value] : r->axes.items())
                if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
        for (const std::string& name : names) {
            if (values_of(rows, name.c_str()).size() < 2 &&
                std::ranges::all_of(rows, [&](const row* r) { return r->axes.contains(name); })) {
                alike.push_back(name);
            }
        }
    }
    bool is_alike(const std::string& name) const { return std::ranges::find(alike, name) != alike.end(); }
};

std::optional<std::pair<double, double>> range_of(const row& of, const std::string& figure, double size,
                                                  double y) {
    if (figure.ends_with("_per_second") || figure == "gflops") return bar_against_time(of, y);
    const auto p10 = finite(of.figures, "p10"), p90 = finite(of.figures, "p90");
    if (figure != "milliseconds" || !p10 || !p90) return std::nullopt;
    return std::pair{*p10 / size, *p90 / size};
}

std::string spoken_name(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

// A chart against each numeric axis along which some line has three points or more: two points are no curve.
std::vector<chart> charts_of_kind(const std::string& title, const row_list& rows) {
    constexpr std::size_t least_points = 3;
    const axes_of_rows axes(rows);
    std::vector<chart> out;
    const std::string figure = figure_shown(rows);
    const shown_in by = unit_for(rows, figure);
    for (const std::string& x_axis : axes.names) {
        chart c;
        panel p;
        for (const row* r : rows) {
            const auto x = finite(r->axes, x_axis), raw = finite(r->figures, figure);
            if (!x || !raw) continue;
            const std::string of = described(other_axes(*r, x_axis, axes.alike));
            const std::string name = of.empty() ? title : of;
            auto line = std::ranges::find(p.lines, name, &chart_line::name);
            if (line == p.lines.end()) line = p.lines.insert(line, {name, p.lines.size(), {}});
            const double y = *raw / by.size;
            line->marks.push_back({x, y, range_of(*r, figure, by.size, y),
                                   described(r->axes) + ": " + three_digits(y) + " (" + by.title + ')',
                                   true});
        }
        const auto has_points = [](const chart_line& line) { return line.marks.size() >= least_points; };
        if (std::ranges::none_of(p.lines, has_points) || p.lines.size() > most_lines) continue;
        c.title = title + ": " + by.title + " by " + spoken_name(x_axis);
        c.x_title = spoken_name(x_axis);
        c.y_title = by.title;
        c.panels.push_back(std::move(p));
        out.push_back(std::move(c));
    }
    return out;
}

// The axis that splits rows into bar charts: the precision if there are several, else the first axis that
// leaves no chart too many bars. An empty name: one chart holds all rows. No value: no axis will do.
std::optional<std::string> parting_axis(const row_list& rows, const axes_of_rows& axes) {
    constexpr std::size_t most_bars = 26, most_pictures = 20;
    const auto fits_by = [&](const std::string& name) {
        const std::vector<json> values = values_of(rows, name.c_str());
        return values.size() > 1 && values.size() <= most_pictures &&
               std::ranges::all_of(values, [&](const json& v) {
                   const auto bars = std::ranges::count_if(
                       rows, [&](const row* r) { return r->axes.contains(name) && r->axes.at(name) == v; });
                   return bars > 1 && static_cast<std::size_t>(bars) <= most_bars;
               });
    };
    const auto has_axis = [&](const row* r) { return r->axes.contains("precision"); };
    if (std::ranges::all_of(rows, has_axis) && fits_by("precision")) return "precision";
    if (rows.size() <= most_bars) return "";
    for (const std::string& name : axes.names) {
        const bool is_everywhere =
            std::ranges::all_of(rows, [&](const row* r) { return r->axes.contains(name); });
        if (is_everywhere && fits_by(name)) return name;
    }
    return std::nullopt;
}

std::string bars_of_kind(const row_list& rows) {
    const std::string figure = figure_shown(rows);
    row_list measured;
    for (const row* r : rows)
        if (finite(r->figures, figure)) measured.push_back(r);
    if (measured.size() < 2) return {};
    const axes_of_rows axes(measured);
    const std::optional<std::string> parted = parting_axis(measured, axes);
    if (!parted) return {};
    const shown_in by = unit_for(measured, figure);
    const bool is_time = figure == "milliseconds";
    std::vector<json> parts = parted->empty() ? std::vector<json>{} : values_of(measured, parted->c_str());
    if (parts.empty()) parts.emplace_back(nullptr);
    std::vector<std::vector<named_bar>> pictures(parts.size());
    std::vector<double> highest(parts.size(), 0);
    for (const row* r : measured) {
        const auto at = parted->empty() ? parts.begin() : std::ranges::find(parts, r->axes.at(*parted));
        const auto n = static_cast<std::size_t>(at - parts.begin());
        const double y = *finite(r->figures, figure) / by.size;
        const std::string name = described(other_axes(*r, *parted, axes.alike));
        const auto range = range_of(*r, figure, by.size, y);
        pictures[n].push_back({name, y, three_digits(y), range.value_or(std::pair{y, y}),
                               described(r->axes) + ": " + three_digits(y) + " (" + by.title + ')'});
        highest[n] = std::max({highest[n], y, range ? range->second : y});
    }
    // Bars of different precisions share a scale, to be compared. Charts split by another axis need not.
    if (*parted == "precision") std::ranges::fill(highest, std::ranges::max(highest));
    std::string out;
    for (std::size_t n = 0; n < parts.size(); ++n) {
        const std::string of = parted->empty() ? "" : described(json{{*parted, parts[n]}}) + ", ";
        out += bar_chart(of + by.title + (is_time ? "; shorter is faster" : ""), pictures[n], highest[n]);
    }
    return "<div class=\"pictures\">\n" + out + "</div>\n";
}

std::string element(const std::string& name, const std::string& text) {
    return '<' + name + '>' + escaped(text) + "</" + name + ">\n";
}

std::string table_of(const std::string& name, const grid& g) {
    std::string out, alike;
    for (const auto& [title, cell] : g.alike) alike += (alike.empty() ? "" : ", ") + title + ' ' + cell;
    if (!alike.empty()) out += element("p", "In all rows: " + alike + '.');
    if (g.columns.empty()) return out;
    std::vector<page::table::head> heads;
    for (const grid::column& c : g.columns)
        heads.push_back({c.title, c.is_number ? page::table::of::numbers : page::table::of::text});
    page::table rows(name, std::move(heads));
    for (std::size_t i = 0; i < g.rows; ++i) {
        std::vector<std::string> cells;
        for (const grid::column& c : g.columns) {
            const bool is_long = c.cells[i].size() > most_in_a_line;
            cells.push_back(is_long ? "<span class=\"says\">" + escaped(c.cells[i]) + "</span>"
                                    : escaped(c.cells[i]));
        }
        rows.add(cells);
    }
    return out + rows.text();
}

std::string reasons_list(const row_list& rows, std::string row::*why, const std::string& title) {
    std::string out;
    for (const reason& r : reasons_of(rows, why)) {
        out += "<li>" + escaped(r.text) + " (" + escaped(report::counted(r.rows.size(), "row")) + "):\n<ul>";
        for (const row* of : r.rows) out += "<li>" + escaped(described(of->axes)) + "</li>\n";
        out += "</ul></li>\n";
    }
    return out.empty() ? out : element("h3", title) + "<ul class=\"reasons\">\n" + out + "</ul>\n";
}

// The chart as HTML, wide enough for its texts to be readable; a narrower page scrolls it.
std::string drawn(const chart& of) {
    return "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(of.title) + "\">" +
           inline_svg(of) + "</div>\n";
}

std::string prefetch_section(const row_list& rows) {
    std::string out;
    for (const prefetch_group& group : groups_of(rows)) {
        out += "<section>\n" + element("h2", "prefetch: " + group.title());
        if (group.rows.empty()) out += element("p", "No results.");
        for (const named_chart& c : charts_of(group)) out += drawn(c.of);
        const auto without = std::ranges::count_if(group.rows, [](const row* r) { return !ratio_of(*r); });
        if (without > 0) {
            out += element("p", report::counted(static_cast<std::uint64_t>(without), "row") +
                                    " without a ratio, so in no figure of speed-ups.");
        }
        row_list best;
        std::ranges::copy_if(group.rows, std::back_inserter(best),
                             [](const row* r) { return finite(r->figures, "milliseconds").has_value(); });
        std::ranges::stable_sort(best, {}, [](const row* r) { return *finite(r->figures, "milliseconds"); });
        if (best.size() > best_rows) best.resize(best_rows);
        if (!best.empty()) {
            out += "<div class=\"together\">" +
                   element("h3", "The fastest " + report::counted(best.size(), "row")) +
                   table_of("the fastest rows", grid_of(best)) + "</div>\n";
        }
        out += "</section>\n";
    }
    const std::string bad = reasons_list(rows, &row::wrong, "Wrong: no result") +
                            reasons_list(rows, &row::skipped, "Skipped: can't be measured here");
    if (!bad.empty()) {
        out += "<section>\n" + element("h2", "prefetch: what is not in the figures") + bad + "</section>\n";
    }
    return out;
}

std::string conditions_section(const row_list& rows) {
    const auto percent = [](double part) { return report::fixed(100 * part, 0) + " %"; };
    std::string out = "<section>\n" + element("h2", "prefetch: where it can pay");
    out +=
        element("p",
                "Prefetching asks the memory for what a path needs before the path needs it. It can pay only "
                "where three things meet; where one is missing, it can't:");
    out += "<ol>\n";
    out += element("li",
                   "The bandwidth is not saturated: a load that goes out earlier needs room in the memory's "
                   "traffic. A row that reads " +
                       percent(saturated_bandwidth) +
                       " or more of the memory's peak counts as saturated; a plain copy does not reach "
                       "the peak itself (89 % of it on an H100).");
    out += element("li",
                   "Warps stall on loads, which ncu calls long scoreboard: there is a wait to hide. Of the "
                   "cycles between two instructions of a warp, " +
                       percent(least_stalled) +
                       " or more have to be spent so (share of time stalled); below that, hiding all of it "
                       "leaves most of the time. Stalled on loads is how many warps of a scheduler wait so "
                       "whenever one of them issues an instruction.");
    out += element("li",
                   "Iterations are independent: the load of a later step can go out before an earlier one "
                   "has come back. In a path kernel that always holds, because where a shock lies follows "
                   "from the step and the number of the path, never from what another load brought. A "
                   "kernel that follows pointers would fail here.");
    out += "</ol>\n";
    const row_list results = results_among(rows);
    if (!results.empty()) {
        out +=
            element("p",
                    "The verdict is on more prefetching than the row does, in a row of none on any at all. "
                    "Can pay says that nothing stands against it; how much it gives stands in the figures "
                    "of speed-ups. A thread of bulk_async waits for its copies at a barrier in shared "
                    "memory, which need not count as a wait for a load, so few such waits are no "
                    "verdict there. The first two conditions are what ncu read off the hardware's "
                    "counters, in one launch a row.");
        out += table_of("conditions", grid_of(results));
    }
    return out + reasons_list(rows, &row::skipped, "Not read off: ncu gave no counters") + "</section>\n";
}

std::string suite_section(const std::string& suite, const row_list& rows) {
    std::string out = "<section>\n" + element("h2", suite);
    const row_list results = results_among(rows);
    if (suite == "convergence") {
        out +=
            element("p",
                    "An error is the standard deviation of the price from so many paths. That of independent "
                    "paths falls with the root of their number.");
        for (const named_chart& c : convergence_charts(results)) out += drawn(c.of);
    }
    if (results.empty()) out += element("p", "No results.");
    for (const kind_of_rows& kind : by_kind(results)) {
        const std::string title = suite + (kind.name.empty() ? "" : ", " + kind.name);
        if (!kind.name.empty()) out += element("h3", kind.name);
        if (suite != "convergence") {
            const std::vector<chart> charts = charts_of_kind(title, kind.rows);
            for (const chart& c : charts) out += drawn(c);
            if (charts.empty()) out += bars_of_kind(kind.rows);
        }
        out += table_of(title, grid_of(kind));
    }
    return out + reasons_list(rows, &row::wrong, "Wrong: no result") +
           reasons_list(rows, &row::skipped, "Skipped: can't be measured here") + "</section>\n";
}

// The head of the page: facts about the run, the most important first.
std::string head_of(const run& what) {
    std::vector<std::pair<std::string, std::string>> entries;
    const auto said = [&](const char* key) {
        const auto at = what.about.find(key);
        return at == what.about.end() ? std::string() : cell_of(*at);
    };
    const auto add = [&](const std::string& name, const std::string& text) {
        if (!text.empty()) entries.emplace_back(name, text);
    };
    const auto with_unit = [](std::string text, const char* unit) {
        return text.empty() ? text : std::move(text) + unit;
    };
    add("device", said("device"));
    add("driver", said("driver"));
    add("runtime", said("runtime"));
    add("clock, at most", with_unit(said("clock_mhz"), " MHz"));
    add("clock, seen", with_unit(said("clock_mhz_seen"), " MHz"));
    add("memory clock, seen", with_unit(said("memory_clock_mhz_seen"), " MHz"));
    if (const auto copy = finite(what.about, "copy_bytes_per_second")) {
        add("copy rate", rate_text(*copy) + ", read and written together");
    }
    add("version", said("version"));
    add("commit", said("commit"));
    add("date", said("date"));
    constexpr std::array<std::string_view, 10> told{"device",
                                                    "driver",
                                                    "runtime",
                                                    "clock_mhz",
                                                    "clock_mhz_seen",
                                                    "memory_clock_mhz_seen",
                                                    "copy_bytes_per_second",
                                                    "version",
                                                    "commit",
                                                    "date"};
    for (const auto& [key, value] : what.about.items()) {
        if (std::ranges::find(told, key) != told.end()) continue;
        std::string name = key;
        std::ranges::replace(name, '_', ' ');
        if (name.ends_with(" bytes") && value.is_number()) {
            name.resize(name.size() - std::string_view(" bytes").size());
            add(name, three_digits(value.get<double>() / 0x1p20) + " MiB");
        } else {
            add(name, cell_of(value));
        }
    }
    std::size_t wrong = 0, skipped = 0;
    for (const row& r : what.rows) {
        wrong += !r.wrong.empty();
        skipped += r.wrong.empty() && !r.skipped.empty();
    }
    add("rows", std::to_string(what.rows.size()) + ", of which " + std::to_string(skipped) + " skipped and " +
                    std::to_string(wrong) + " wrong");
    std::string out = "<dl>\n";
    for (const auto& [name, text] : entries)
        out += "<div>" + element("dt", name) + element("dd", text) + "</div>\n";
    return out + "</dl>\n";
}

std::string how_to_read(const run& what) {
    const auto has_suite = [&](const char* name) {
        return std::ranges::find(what.rows, name, &row::suite) != what.rows.end();
    };
    const bool has_shares =
        std::ranges::any_of(what.rows, [](const row& r) { return r.figures.contains("share_of_copy"); });
    std::string out =
        element("h2", "How to read this page") +
        element("p",
                "Every kernel was checked before it was timed: what gave other bits than it should is listed "
                "as wrong, and is in no figure. A time is the median of samples taken between two events of "
                "the device; a thin line across a bar or a mark runs from the fastest tenth of the samples "
                "to the slowest; noise is half the width of an interval that holds the true median with "
                "about 95 %. Point at a mark or a bar to see what it is.");
    if (has_suite("prefetch"))
        out += element(
            "p",
            "Where speed-up is shown, 1 is the feed none at width 1 in the same run, with the same workload, "
            "precision, block and warps; 2 takes half its time. A line joins the fastest row of a feed at "
            "each distance; small pale marks are its other rows, such as with other numbers of rows or "
            "another block. A level across a panel, with its mark at the left end, is a feed that has no "
            "distance. Panels of one number of warps share their scale, others need not. Few warps a "
            "multiprocessor stand for kernels that need many registers or much shared memory.");
    if (has_shares)
        out +=
            element("p",
                    "The share of the copy rate says how much of what the memory can give is used: 100 % is "
                    "a plain copy of a large array on this device, bytes read and written together.");
    return out;
}

// CSS of this page, in addition to the style of all pages.
constexpr std::string_view page_style =
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.1rem 1.5rem;"
    "margin:.5rem 0}\n"
    "dl div{display:flex;gap:.5rem}dt{color:var(--quiet);flex:none;width:9rem}"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    ".wide .chart{min-width:46rem}.wide .chart .paper,.wide .chart .hollow{fill:var(--paper)}\n"
    ".reasons{font-size:.875rem}.reasons ul{columns:2 20rem}\n"
    "@media print{section{break-before:page}.together,.bars{break-inside:avoid}.wide .chart{min-width:0}}\n"
    "@page{margin:14mm}\n";

}  // namespace

std::string report_html(const run& what) {
    std::string title = "Benchmarks";
    if (const auto device = what.about.find("device"); device != what.about.end()) {
        title += " on " + cell_of(*device);
    }
    std::string out =
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n";
    out += element("title", title) + "<style>\n" + page::style() + std::string(page_style) + chart_style() +
           bar_chart_style() + "</style>\n</head>\n";
    out += "<body>\n<header>\n" + element("h1", title) + head_of(what) + "</header>\n<main>\n" +
           how_to_read(what);
    for (const auto& [suite, rows] : by_suite(what)) {
        if (suite == "prefetch") {
            out += prefetch_section(rows);
        } else {
            out += suite == conditions_suite ? conditions_section(rows) : suite_section(suite, rows);
        }
    }
    if (what.rows.empty()) out += element("p", "The run has no rows.");
    return out + "</main>\n</body>\n</html>\n";
}

std::vector<std::string> figure_names(const run& what) {
    std::vector<std::string> out;
    for (named_chart& c : all_charts(what)) out.push_back(std::move(c.name));
    return out;
}

std::string figure_svg(const run& what, const std::string& name) {
    const std::vector<named_chart> charts = all_charts(what);
    const auto found = std::ranges::find(charts, name, &named_chart::name);
    if (found != charts.end()) return svg(found->of);
    std::vector<std::string> known;
    for (const named_chart& c : charts) known.push_back(c.name);
    throw error(error_kind::usage,
                "there is no figure " + config::shown(name) +
                    (known.empty() ? "; there are none" : config::alternatives(name, "there are", known)));
}

}  // namespace tilewalk::bench
