// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/tell/formats.h"
#include "tilewalk/printable.h"
#include "tilewalk/results.h"

namespace tilewalk::bench {

namespace {

using row_span = std::span<const row* const>;

// Figures that tables put first, and figures that tables leave to CSV.
constexpr std::array<std::string_view, 5> leading_figures{"milliseconds", "noise", "ratio", "share_of_copy",
                                                          "bytes_per_second"};
constexpr std::array<std::string_view, 5> figures_left_out{"p10", "p90", "samples", "dropped", "clock_mhz"};

bool is_among(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// All names of axes or figures in the rows, each placed between the names with which it occurs.
std::vector<std::string> names_in(row_span rows, json row::*where) {
    std::vector<std::string> names;
    for (const row* r : rows) {
        auto next = names.begin();
        for (const auto& [name, value] : (r->*where).items()) {
            auto at = std::ranges::find(names, name);
            if (at == names.end()) at = names.insert(next, name);
            next = at + 1;
        }
    }
    return names;
}

std::string spaced(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

struct unit {
    double size;
    std::string_view name;
};
constexpr std::array<unit, 4> time_units{{{1e3, "s"}, {1, "ms"}, {1e-3, "us"}, {1e-6, "ns"}}};
constexpr std::array<unit, 5> rate_units{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};

// The largest unit that is at most x; the smallest one if x is smaller than all.
unit unit_of(std::span<const unit> units, double x) {
    const auto found = std::ranges::find_if(units, [&](const unit& u) { return std::abs(x) >= u.size; });
    return found == units.end() ? units.back() : *found;
}

std::vector<double> numbers_in(row_span rows, const std::string& figure) {
    std::vector<double> numbers;
    for (const row* r : rows) {
        const auto at = r->figures.find(figure);
        if (at != r->figures.end() && at->is_number()) numbers.push_back(at->get<double>());
    }
    std::ranges::sort(numbers);
    return numbers;
}

// The title and number format of a figure. By default integers are written in full, others with three digits.
struct format {
    std::string title;
    std::function<std::string(double)> text;
};

format format_of(row_span rows, const std::string& figure) {
    if (figure == "noise") {
        return {figure, [](double x) { return report::fixed(100 * x, 2) + " %"; }};
    }
    if (figure.starts_with("share_of_")) {
        return {spaced(figure), [](double x) { return three_digits(100 * x) + " %"; }};
    }
    if (figure == "ratio") return {figure, [](double x) { return report::fixed(x, 2) + " x"; }};
    if (figure == "price") return {figure, [](double x) { return report::significant(x, 6); }};
    if (const shown_in by = unit_for(rows, figure); by.title != spaced(figure)) {
        return {by.title, [by](double x) { return three_digits(x / by.size); }};
    }
    return {spaced(figure), nullptr};
}

grid::column column_of(row_span rows, const std::string& figure) {
    const format how = format_of(rows, figure);
    grid::column out{how.title, !numbers_in(rows, figure).empty(), {}};
    for (const row* r : rows) {
        const auto at = r->figures.find(figure);
        if (at == r->figures.end()) {
            out.cells.emplace_back();
        } else if (at->is_number() && how.text) {
            out.cells.push_back(how.text(at->get<double>()));
        } else {
            out.cells.push_back(at->is_number_float() ? three_digits(at->get<double>()) : cell_of(*at));
        }
    }
    return out;
}

grid::column axis_column(row_span rows, const std::string& axis) {
    grid::column out{spaced(axis), true, {}};
    for (const row* r : rows) {
        const auto at = r->axes.find(axis);
        if (at != r->axes.end() && !at->is_number()) out.is_number = false;
        out.cells.push_back(at == r->axes.end() ? "" : cell_of(*at));
    }
    return out;
}

bool is_alike(const grid::column& of) {
    return of.cells.size() > 1 && !of.cells.front().empty() &&
           std::ranges::all_of(of.cells, [&](const std::string& c) { return c == of.cells.front(); });
}

constexpr std::size_t most_named = 4;

std::string reasons_text(row_span rows, std::string row::*why, const std::string& what) {
    std::string out;
    for (const reason& r : reasons_of(rows, why)) {
        out += report::counted(r.rows.size(), "row") + ' ' + what + ": " + printable(r.text) + '\n';
        for (std::size_t i = 0; i < std::min(r.rows.size(), most_named); ++i) {
            out += "  " + described(r.rows[i]->axes) + '\n';
        }
        if (r.rows.size() > most_named) {
            out += "  and " + std::to_string(r.rows.size() - most_named) + " more\n";
        }
    }
    return out;
}

// The order in which a wide table shrinks: numbers are dropped from the right, except the first; words cut.
std::vector<report::columns::measure> narrowing(const grid& g) {
    std::vector<report::columns::measure> out;
    const auto first = std::ranges::find_if(g.columns, &grid::column::is_number);
    for (auto c = g.columns.rbegin(); c != g.columns.rend() && c.base() - 1 != first; ++c)
        if (c->is_number) out.push_back({c->title, 0});
    for (const grid::column& c : g.columns)
        if (!c.is_number) out.push_back({c.title, 8});
    return out;
}

std::string suite_text(const std::string& suite, row_span rows, std::size_t columns) {
    std::string out = printable(suite) + '\n';
    const std::vector<kind_of_rows> kinds = by_kind(results_among(rows));
    for (const kind_of_rows& kind : kinds) {
        if (!kind.name.empty()) out += (&kind == kinds.data() ? "" : "\n") + printable(kind.name) + '\n';
        const grid g = grid_of(kind);
        std::string alike;
        for (const auto& [name, cell] : g.alike) alike += (alike.empty() ? "" : ", ") + name + ' ' + cell;
        if (!alike.empty())
            out += report::wrapped("in all rows: " + alike, std::min<std::size_t>(columns, 100), 0);
        std::vector<report::columns::head> heads;
        for (const grid::column& c : g.columns) {
            heads.push_back({c.title, c.is_number ? report::align::right : report::align::left});
        }
        report::columns lines(heads);
        for (std::size_t i = 0; i < g.rows; ++i) {
            std::vector<std::string> cells;
            for (const grid::column& c : g.columns) cells.push_back(c.cells[i]);
            lines.add(std::move(cells));
        }
        const std::vector<std::string> left_out = lines.fit(columns, narrowing(g));
        out += lines.text();
        if (!left_out.empty()) {
            std::string names;
            for (const std::string& title : left_out) names += (names.empty() ? "" : ", ") + title;
            out += "left out in " + std::to_string(columns) + " columns: " + names + '\n';
        }
    }
    out += reasons_text(rows, &row::wrong, "wrong");
    out += reasons_text(rows, &row::skipped, "skipped");
    return folded(out, columns);
}

}  // namespace

shown_in unit_for(row_span rows, const std::string& figure) {
    constexpr std::string_view per_second = "_per_second";
    const std::vector<double> numbers = numbers_in(rows, figure);
    const double middle = numbers.empty() ? 0 : numbers[numbers.size() / 2];
    if (figure == "milliseconds") {
        const unit by = unit_of(time_units, middle);
        return {by.size, "time " + std::string(by.name)};
    }
    if (figure.ends_with(per_second)) {
        const unit by = unit_of(rate_units, middle);
        const std::string what = spaced(figure.substr(0, figure.size() - per_second.size()));
        const std::string of = what == "bytes" ? "B" : (by.name.empty() ? "" : " ") + what;
        return {by.size, std::string(by.name) + of + "/s"};
    }
    return {1, spaced(figure)};
}

std::string cell_of(const json& value) {
    if (value.is_string()) return printable(value.get<std::string>());
    if (value.is_number_float()) return report::shortest(value.get<double>());
    if (value.is_null()) return "-";  // JSON null: a number that was not finite
    return printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string described(const json& axes) {
    std::string out;
    for (const auto& [name, value] : axes.items()) {
        out += out.empty() ? "" : ", ";
        if (!value.is_string()) out += printable(spaced(name)) + ' ';
        out += cell_of(value);
    }
    return out;
}

std::string three_digits(double x) {
    if (x == 0 || !std::isfinite(x)) return report::shortest(x);
    auto power = static_cast<int>(std::floor(std::log10(std::abs(x))));
    if (std::abs(x) / std::pow(10.0, power) >= 9.995) ++power;  // rounding makes one digit more
    if (power < -4 || power > 6) return report::significant(x, 3);
    return report::fixed(x, std::max(0, 2 - power));
}

std::string time_text(double milliseconds) {
    const unit by = unit_of(time_units, milliseconds);
    return three_digits(milliseconds / by.size) + ' ' + std::string(by.name);
}

std::string rate_text(double bytes_per_second) {
    const unit by = unit_of(rate_units, bytes_per_second);
    return three_digits(bytes_per_second / by.size) + ' ' + std::string(by.name) + "B/s";
}

grid grid_of(row_span results) {
    grid out;
    out.rows = results.size();
    const auto take = [&](grid::column c, bool may_stand_once) {
        c.title = printable(c.title);
        if (may_stand_once && is_alike(c)) {
            out.alike.emplace_back(std::move(c.title), c.cells.front());
        } else {
            out.columns.push_back(std::move(c));
        }
    };
    for (const std::string& axis : names_in(results, &row::axes)) take(axis_column(results, axis), true);
    const std::vector<std::string> figures = names_in(results, &row::figures);
    for (const std::string_view leading : leading_figures) {
        const auto at = std::ranges::find(figures, leading);
        if (at != figures.end()) take(column_of(results, *at), false);
    }
    // Order of the columns: rates, other figures, and last the published figure, for comparison.
    const auto place_of = [](const std::string& figure) {
        return figure.ends_with("_per_second") ? 0 : figure == "published" ? 2 : 1;
    };
    for (const int place : {0, 1, 2}) {
        for (const std::string& figure : figures) {
            if (is_among(leading_figures, figure) || is_among(figures_left_out, figure)) continue;
            if (place_of(figure) == place) take(column_of(results, figure), figure != "published");
        }
    }
    return out;
}

std::vector<kind_of_rows> by_kind(row_span results) {
    constexpr std::array<std::string_view, 3> kinds{"kind", "workload", "device"};
    std::vector<std::string> told;
    for (const std::string_view axis : kinds) {
        std::vector<json> values;
        for (const row* r : results) {
            const json value = r->axes.contains(axis) ? r->axes.at(std::string(axis)) : json();
            if (std::ranges::find(values, value) == values.end()) values.push_back(value);
        }
        if (values.size() > 1) told.emplace_back(axis);
    }
    std::vector<kind_of_rows> out;
    for (const row* r : results) {
        std::string name;
        for (const std::string& axis : told) {
            const auto at = r->axes.find(axis);
            if (at != r->axes.end()) name += (name.empty() ? "" : ", ") + spaced(cell_of(*at));
        }
        auto at = std::ranges::find(out, name, &kind_of_rows::name);
        if (at == out.end()) at = out.insert(at, {name, told, {}});
        at->rows.push_back(r);
    }
    return out;
}

grid grid_of(const kind_of_rows& kind) {
    grid out = grid_of(kind.rows);
    std::erase_if(out.alike, [&](const auto& cell) {
        return std::ranges::any_of(kind.axes, [&](const std::string& a) { return spaced(a) == cell.first; });
    });
    std::erase_if(out.columns, [&](const grid::column& c) {
        return std::ranges::any_of(kind.axes, [&](const std::string& a) { return spaced(a) == c.title; });
    });
    return out;
}

std::vector<reason> reasons_of(row_span rows, std::string row::*why) {
    std::vector<reason> out;
    for (const row* r : rows) {
        const std::string& text = r->*why;
        if (text.empty()) continue;
        auto at = std::ranges::find(out, text, &reason::text);
        if (at == out.end()) at = out.insert(at, {text, {}});
        at->rows.push_back(r);
    }
    return out;
}

std::vector<std::pair<std::string, std::vector<const row*>>> by_suite(const run& what) {
    std::vector<std::pair<std::string, std::vector<const row*>>> out;
    for (const row& r : what.rows) {
        auto at = std::ranges::find(out, r.suite, [](const auto& of) { return of.first; });
        if (at == out.end()) at = out.insert(at, {r.suite, {}});
        at->second.push_back(&r);
    }
    return out;
}

std::vector<const row*> results_among(row_span rows) {
    std::vector<const row*> out;
    std::ranges::copy_if(rows, std::back_inserter(out), &row::is_result);
    return out;
}

std::string table(const run& what, std::size_t columns) {
    std::string out;
    for (const auto& [suite, rows] : by_suite(what)) {
        out += (out.empty() ? "" : "\n") + suite_text(suite, rows, columns);
    }
    return out.empty() ? "no rows\n" : out;
}

std::string csv(const run& what) {
    std::vector<const row*> rows;
    for (const row& r : what.rows) rows.push_back(&r);
    const std::vector<std::string> axes = names_in(rows, &row::axes), figures = names_in(rows, &row::figures);
    const auto is_axis = [&](const std::string& name) { return std::ranges::find(axes, name) != axes.end(); };
    // A name as one CSV field on one line, whatever characters it has.
    const auto text = [](const std::string& of) { return report::csv_field(printable(of)); };
    std::string out = "suite";
    for (const std::string& axis : axes) out += ',' + text(axis);
    for (const std::string& figure : figures) {
        out += ',' + text(is_axis(figure) ? "measured_" + figure : figure);
    }
    out += ",over,skipped,wrong\n";
    const auto field = [](const json& of, const std::string& name) -> std::string {
        const auto at = of.find(name);
        if (at == of.end() || at->is_null()) return {};
        return at->is_number() ? cell_of(*at) : report::csv_field(cell_of(*at));
    };
    for (const row* r : rows) {
        out += text(r->suite);
        for (const std::string& axis : axes) out += ',' + field(r->axes, axis);
        for (const std::string& figure : figures) out += ',' + field(r->figures, figure);
        out += ',' + report::csv_field(r->over.is_null() ? "" : described(r->over)) + ',' + text(r->skipped) +
               ',' + text(r->wrong) + '\n';
    }
    return out;
}

}  // namespace tilewalk::bench
