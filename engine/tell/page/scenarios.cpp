// SPDX-License-Identifier: Apache-2.0
// Sections about other markets: sensitivities, scenario gains (with heat maps of grids), and tail risk.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "engine/base/shown_numbers.h"
#include "engine/tell/page/figures.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/page/sections.h"
#include "engine/tell/pictures/bars.h"
#include "engine/tell/scenario_forms.h"
#include "tilewalk/results.h"

namespace tilewalk::page {

namespace {

using report::counted;

constexpr std::size_t most_rows = 400, most_of_group = 60, most_worst = 10, most_best = 3, most_grids = 8,
                      most_in_tail = 8;

pictures::axis axis_of(const std::vector<pictures::value_with_bar>& all) {
    pictures::axis by{0, 0, false, {}};
    for (const auto& one : all) {
        for (const double x : {one.value, one.low, one.high}) {
            if (!std::isfinite(x)) continue;
            by.low = std::min(by.low, x);
            by.high = std::max(by.high, x);
        }
    }
    return by;
}

pictures::value_with_bar with_interval(double value, double error) {
    constexpr double width_95 = 1.96;
    return {value, is_figure(error) ? value - width_95 * error : no_figure,
            is_figure(error) ? value + width_95 * error : no_figure};
}

// Sensitivities of one measure in one unit, which can be compared as bars on one scale.
struct ladder {
    std::string measure, unit;
    std::vector<const greek_row*> rows{};
};

std::vector<ladder> ladders_of(const std::vector<greek_row>& rows) {
    std::vector<ladder> out;
    for (const greek_row& row : rows) {
        auto at = std::ranges::find_if(
            out, [&](const ladder& l) { return l.measure == row.measure && l.unit == row.unit; });
        if (at == out.end()) at = out.insert(at, {row.measure, row.unit});
        at->rows.push_back(&row);
    }
    return out;
}

std::string ladder_text(const ladder& of) {
    const std::string title = of.measure + ", " + of.unit;
    table rows(title, {{"market key", table::of::text},
                       {"value"},
                       {"std error"},
                       {"as a bar", table::of::pictures},
                       {"bias"},
                       {"method", table::of::text}});
    std::vector<const greek_row*> shown = of.rows;
    if (shown.size() > most_of_group) {
        std::ranges::stable_sort(shown, std::ranges::greater{},
                                 [](const greek_row* row) { return std::abs(row->value); });
        shown.resize(most_of_group);
    }
    std::vector<pictures::value_with_bar> bars;
    for (const greek_row* row : shown) bars.push_back(with_interval(row->value, row->standard_error));
    const pictures::axis by = axis_of(bars);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const greek_row& row = *shown[i];
        rows.add({row.key.empty() ? "all together" : name_cell(row.key),
                  value_text(row.value, row.standard_error), error_text(row.standard_error),
                  pictures::bar_with_error(bars[i], by, 160), row.bias > 0 ? rounded(row.bias, 2) : "",
                  escaped(row.method)});
    }
    std::string out = element("h3", escaped(title)) + rows.text();
    if (shown.size() < of.rows.size())
        out += paragraph("the largest " + std::to_string(shown.size()) + " of " +
                         counted(of.rows.size(), "number") + "; csv and json output have them all");
    return out;
}

// The sensitivities of one measure. A unit with several has a ladder, all others share one table.
std::string measure_text(std::span<const ladder> of) {
    std::string out;
    table alone(of.front().measure, {{"market key", table::of::text},
                                     {"value"},
                                     {"std error"},
                                     {"unit", table::of::text},
                                     {"bias"},
                                     {"method", table::of::text}});
    for (const ladder& one : of) {
        if (one.rows.size() > 1) continue;
        const greek_row& row = *one.rows.front();
        alone.add({name_cell(row.key), value_text(row.value, row.standard_error),
                   error_text(row.standard_error), escaped(row.unit),
                   row.bias > 0 ? rounded(row.bias, 2) : "", escaped(row.method)});
    }
    if (!alone.empty()) out += element("h3", escaped(of.front().measure)) + alone.text();
    for (const ladder& one : of)
        if (one.rows.size() > 1) out += ladder_text(one);
    return out;
}

std::string greeks_by_trade(const std::vector<greek_row>& all) {
    std::vector<const greek_row*> shown;
    for (const greek_row& row : all) shown.push_back(&row);
    std::string note;
    if (shown.size() > most_rows) {
        // Size of a sensitivity relative to the largest of the same measure and unit.
        std::map<const greek_row*, double> size;
        for (const ladder& of : ladders_of(all)) {
            double largest = 0;
            for (const greek_row* row : of.rows)
                if (is_figure(row->value)) largest = std::max(largest, std::abs(row->value));
            for (const greek_row* row : of.rows)
                size[row] = is_figure(row->value) && largest > 0 ? std::abs(row->value) / largest : 0;
        }
        std::vector<const greek_row*> by_size = shown;
        std::ranges::stable_sort(by_size, std::ranges::greater{},
                                 [&](const greek_row* row) { return size[row]; });
        const double least = size[by_size[most_rows - 1]];
        std::erase_if(shown, [&](const greek_row* row) { return size[row] < least; });
        shown.resize(std::min(shown.size(), most_rows));
        note = paragraph("the largest " + std::to_string(shown.size()) + " of " +
                         counted(all.size(), "sensitivity", "sensitivities") +
                         "; csv and json output have them all");
    }
    table rows("Sensitivities by trade", {{"trade", table::of::text},
                                          {"measure", table::of::text},
                                          {"market key", table::of::text},
                                          {"value"},
                                          {"std error"},
                                          {"bias"},
                                          {"unit", table::of::text},
                                          {"method", table::of::text}});
    for (const greek_row* row : shown) {
        rows.add({name_cell(row->trade), escaped(row->measure),
                  row->key.empty() ? "all together" : name_cell(row->key),
                  row->has_failed() ? "failed" : value_text(row->value, row->standard_error),
                  row->has_failed() ? "" : error_text(row->standard_error),
                  row->bias > 0 ? rounded(row->bias, 2) : "", escaped(row->unit), escaped(row->method)},
                 row->has_failed() ? "alarm" : "");
    }
    return folded("by trade: " + counted(all.size(), "sensitivity", "sensitivities"), rows.text() + note);
}

}  // namespace

std::string sensitivities_section(const page_content& of) {
    const std::vector<greek_row>& all = of.r.greeks;
    if (all.empty()) return {};
    std::string out = paragraph(
        "What the book gains if a number of the market rises by one unit, with the 95% interval as a bar. "
        "Bars of one table share a scale.");
    if (const std::string few = remark_on_few_parts(of.r); !few.empty()) out += paragraph(few);
    const std::vector<greek_row> totals = of.r.greek_totals();
    std::vector<ladder> ladders = ladders_of(totals);
    for (auto at = ladders.begin(); at != ladders.end();) {
        const auto end =
            std::find_if(at, ladders.end(), [&](const ladder& l) { return l.measure != at->measure; });
        out += measure_text({at, end});
        at = end;
    }
    table failures("Sensitivities without a value", {{"trade", table::of::text},
                                                     {"measure", table::of::text},
                                                     {"market key", table::of::text},
                                                     {"reason", table::of::text}});
    std::size_t failed = 0;
    for (const greek_row& row : all)
        if (row.has_failed() && ++failed <= most_rows)
            failures.add({name_cell(row.trade), escaped(row.measure), name_cell(row.key),
                          "<span class=\"says\">" + escaped(row.message) + "</span>"},
                         "alarm");
    if (failed > 0)
        out += element("h3", escaped(counted(failed, "sensitivity", "sensitivities") + " without a value")) +
               failures.text();
    return out + greeks_by_trade(all);
}

namespace {

// Scenarios of a set with every combination of moves of one or two market keys, as `ladder` makes them.
struct grid {
    std::string set;
    std::vector<std::string> keys;                              // one market key or two
    std::vector<std::vector<std::string>> values;               // by key: its moves, in the order of the file
    std::map<std::vector<std::string>, std::size_t> scenarios;  // scenario by its moves

    bool is_whole() const {
        std::size_t cells = 1;
        for (const auto& of_key : values) cells *= of_key.size();
        return scenarios.size() == cells && cells > 1;
    }
};

// Splits "ACME.spot=-20%;ACME.volatility=+5pt" into keys and moves; empty if the name is not of this form.
std::vector<std::pair<std::string, std::string>> moves_named(std::string_view name) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!name.empty()) {
        const auto end = std::min(name.find(';'), name.size());
        const std::string_view part = name.substr(0, end);
        const auto equals = part.rfind('=');
        if (equals == std::string_view::npos) return {};
        out.emplace_back(part.substr(0, equals), part.substr(equals + 1));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return out;
}

std::vector<grid> grids_of(const scenario_results& r) {
    std::vector<grid> out;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
        const auto moves = moves_named(r.scenarios[s].name);
        if (moves.empty() || moves.size() > 2) continue;
        std::vector<std::string> keys, values;
        for (const auto& [key, value] : moves) {
            keys.push_back(key);
            values.push_back(value);
        }
        auto at = std::ranges::find_if(
            out, [&](const grid& g) { return g.set == r.scenarios[s].set && g.keys == keys; });
        if (at == out.end()) {
            at = out.insert(at, {r.scenarios[s].set, keys, {}, {}});
            at->values.resize(keys.size());
        }
        for (std::size_t k = 0; k < keys.size(); ++k)
            if (std::ranges::find(at->values[k], values[k]) == at->values[k].end())
                at->values[k].push_back(values[k]);
        at->scenarios[values] = s;
    }
    std::erase_if(out, [](const grid& g) { return !g.is_whole(); });
    return out;
}

bool has_gain(const portfolio_gains& of, std::size_t scenario) {
    return is_figure(of.gains[scenario]) && of.failed[scenario] < of.trades.size();
}

// The CSS class of one of nine colours: `part` is from -1, for the largest loss, to 1, for a gain as large.
std::string_view heat(double part) {
    constexpr std::array<std::string_view, 9> names{"m4", "m3", "m2", "m1", "z", "p1", "p2", "p3", "p4"};
    return names[static_cast<std::size_t>(std::clamp(std::lround(4 * part) + 4, 0L, 8L))];
}

std::string name_of(const portfolio_gains& of) {
    return (of.portfolio.empty() ? "All trades" : of.portfolio) + ", " + of.currency +
           (of.is_converted ? ", converted" : "");
}

std::string heat_map(const grid& g, const portfolio_gains& of) {
    const bool is_turned = g.keys.size() == 2 && g.values[1].size() > g.values[0].size();
    const std::size_t down = is_turned ? 1 : 0, across = 1 - down;
    const bool is_plane = g.keys.size() == 2;
    double largest = 0;
    for (const auto& [values, s] : g.scenarios)
        if (has_gain(of, s)) largest = std::max(largest, std::abs(of.gains[s]));
    std::string caption = name_of(of) + ": gain by " + g.keys[down] + " (down)";
    if (is_plane) caption += " and " + g.keys[across] + " (across)";
    std::string head = "<th scope=\"col\">" + escaped(g.keys[down]) + "</th>";
    const std::vector<std::string> gain{"gain"};
    for (const std::string& value : is_plane ? g.values[across] : gain)
        head += "<th scope=\"col\">" + escaped(value) + "</th>";
    std::string body;
    for (const std::string& row : g.values[down]) {
        body += "<tr><th scope=\"row\">" + escaped(row) + "</th>";
        for (const std::string& column : is_plane ? g.values[across] : gain) {
            std::vector<std::string> at{row};
            if (is_plane) at.insert(is_turned ? at.begin() : at.end(), column);
            const std::size_t s = g.scenarios.at(at);
            if (!has_gain(of, s)) {
                body += "<td>failed</td>";
                continue;
            }
            body += "<td class=\"" + std::string(heat(largest > 0 ? of.gains[s] / largest : 0)) +
                    "\" title=\"" +
                    escaped(is_figure(of.errors[s]) ? "standard error " + error_text(of.errors[s])
                                                    : "no standard error") +
                    "\">" + escaped(value_text(of.gains[s], of.errors[s])) + "</td>";
        }
        body += "</tr>\n";
    }
    return element("div",
                   element("table",
                           element("caption", escaped(caption)) + "<thead><tr>" + head +
                               "</tr></thead>\n<tbody>\n" + body + "</tbody>",
                           "class=\"heat\""),
                   "class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(caption) + "\"");
}

std::string extremes(const scenario_results& r, const portfolio_gains& of) {
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s)
        if (has_gain(of, s)) order.push_back(s);
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return of.gains[s]; });
    const std::size_t all = order.size();
    if (all > most_worst + most_best)
        order.erase(order.begin() + most_worst, order.end() - static_cast<std::ptrdiff_t>(most_best));
    std::vector<pictures::value_with_bar> bars;
    for (const std::size_t s : order) bars.push_back(with_interval(of.gains[s], of.errors[s]));
    const pictures::axis by = axis_of(bars);
    const bool any_failed = std::ranges::any_of(order, [&](std::size_t s) { return of.failed[s] > 0; });
    std::vector<table::head> heads{{"scenario", table::of::text},
                                   {"set", table::of::text},
                                   {"gain"},
                                   {"std error"},
                                   {"as a bar", table::of::pictures}};
    if (any_failed) heads.push_back({"failed trades"});
    table rows("Worst and best scenarios", heads);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t s = order[i];
        if (all > order.size() && i == most_worst) {
            std::vector<std::string> between{escaped("... " + counted(all - order.size(), "other") + " ...")};
            between.resize(heads.size());
            rows.add(between);
        }
        std::vector<std::string> cells{name_cell(r.scenarios[s].name), escaped(r.scenarios[s].set),
                                       value_text(of.gains[s], of.errors[s]), error_text(of.errors[s]),
                                       pictures::bar_with_error(bars[i], by, 160)};
        if (any_failed) cells.push_back(of.failed[s] > 0 ? std::to_string(of.failed[s]) : "");
        rows.add(cells, of.failed[s] > 0 ? "alarm" : "");
    }
    return element("h3", escaped(name_of(of) + ": worth " +
                                 (is_figure(of.base_value) ? rounded(of.base_value, 10) : "no figure") +
                                 " before")) +
           rows.text();
}

std::vector<const portfolio_gains*> of_the_book(const scenario_results& r) {
    std::vector<const portfolio_gains*> out = report::shown_of(r.totals);
    std::erase_if(out, [](const portfolio_gains* of) { return !of->portfolio.empty(); });
    return out;
}

}  // namespace

std::string scenarios_section(const page_content& of) {
    if (of.beside.scenarios == nullptr) return {};
    const scenario_results& r = *of.beside.scenarios;
    std::string out =
        paragraph(counted(r.scenarios.size(), "scenario") +
                  " on the same random numbers, so the error of a gain is that of a difference.");
    const auto totals = of_the_book(r);
    for (const portfolio_gains* total : totals) out += extremes(r, *total);
    std::string maps;
    std::size_t drawn = 0, left = 0;
    for (const grid& g : grids_of(r)) {
        for (const portfolio_gains* total : totals) {
            if (++drawn > most_grids)
                ++left;
            else
                maps += heat_map(g, *total);
        }
    }
    if (!maps.empty()) out += element("h3", "Ladders") + element("div", maps, "class=\"pictures\"");
    if (left > 0)
        out += paragraph("and " + counted(left, "other ladder") + "; csv and json output have them all");
    if (!r.failures.empty()) {
        table failures(
            "Failures in scenarios",
            {{"trade", table::of::text}, {"scenario", table::of::text}, {"reason", table::of::text}});
        for (std::size_t i = 0; i < std::min(r.failures.size(), most_rows); ++i) {
            const failed_gain& f = r.failures[i];
            failures.add({name_cell(r.base.rows[f.trade].trade), name_cell(r.scenarios[f.scenario].name),
                          "<span class=\"says\">" + escaped(f.message) + "</span>"},
                         "alarm");
        }
        std::string text = failures.text();
        if (r.failures.size() > most_rows)
            text += paragraph("and " + counted(r.failures.size() - most_rows, "other failure") +
                              "; csv and json output have them all");
        out += folded(counted(r.failures.size(), "failure") + " in scenarios", text, r.failures.size() <= 10);
    }
    return out;
}

namespace {

std::string figure_text(const tail_figure& f) {
    return is_figure(f.value) ? value_text(f.value, f.noise > 0 ? f.noise : f.sampling) : "";
}

std::string shares_text(const scenario_results& r, const portfolio_risk& risk) {
    if (risk.tails.empty()) return {};
    const double level = risk.tails.front().level;
    std::vector<const trade_in_tail*> shares;
    for (const trade_in_tail& one : risk.shares)
        if (one.level == level && is_figure(one.component_quantile)) shares.push_back(&one);
    if (shares.size() < 2) return {};
    std::ranges::stable_sort(shares, std::ranges::greater{},
                             [](const trade_in_tail* one) { return std::abs(one->component_quantile); });
    const std::size_t all = shares.size();
    shares.resize(std::min(shares.size(), most_in_tail));
    std::vector<pictures::value_with_bar> bars;
    for (const trade_in_tail* one : shares)
        bars.push_back(with_interval(one->component_quantile, one->component_quantile_error));
    const pictures::axis by = axis_of(bars);
    table rows("Shares of trades in value at risk", {{"trade", table::of::text},
                                                     {"share of it"},
                                                     {"noise"},
                                                     {"as a bar", table::of::pictures},
                                                     {"more with than without"}});
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const trade_in_tail& one = *shares[i];
        rows.add({name_cell(r.base.rows[one.trade].trade),
                  value_text(one.component_quantile, one.component_quantile_error),
                  error_text(one.component_quantile_error), pictures::bar_with_error(bars[i], by, 120),
                  is_figure(one.incremental_quantile) ? rounded(one.incremental_quantile, 4) : ""});
    }
    return element("h3", escaped("Trades that make it, at " + rounded(100 * level, 6) + "%")) + rows.text() +
           (all > shares.size() ? paragraph("and " + counted(all - shares.size(), "other trade")) : "");
}

std::string risk_text(const scenario_results& r, const portfolio_risk& risk) {
    const std::string title = risk.set + ": " + (risk.portfolio.empty() ? "all trades" : risk.portfolio) +
                              ", " + risk.currency + (risk.is_converted ? ", converted" : "");
    table rows(title, {{"level", table::of::text},
                       {"value at risk"},
                       {"noise"},
                       {"sampling"},
                       {"shortfall"},
                       {"noise"},
                       {"sampling"},
                       {"scenario", table::of::text}});
    std::vector<pictures::level> levels;
    for (const tail& t : risk.tails) {
        rows.add({rounded(100 * t.level, 6) + "%", figure_text(t.quantile), error_text(t.quantile.noise),
                  error_text(t.quantile.sampling), figure_text(t.shortfall), error_text(t.shortfall.noise),
                  error_text(t.shortfall.sampling),
                  is_figure(t.quantile.value) ? name_cell(r.scenarios[t.at].name) : ""});
        if (is_figure(t.quantile.value))
            levels.push_back({t.quantile.value, rounded(100 * t.level, 6) + "%: " + figure_text(t.quantile)});
    }
    std::string out = element("h3", escaped(title)) + rows.text();
    const auto total = std::ranges::find_if(r.totals, [&](const portfolio_gains& t) {
        return t.portfolio == risk.portfolio && t.currency == risk.currency &&
               t.is_converted == risk.is_converted;
    });
    if (total == r.totals.end() || !risk.portfolio.empty()) return out;
    std::vector<double> gains;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s)
        if (r.scenarios[s].set == risk.set && has_gain(*total, s)) gains.push_back(total->gains[s]);
    out +=
        element("div",
                element("figure", pictures::histogram(gains, levels, "gain, " + risk.currency,
                                                      "Distribution of gains in " + title) +
                                      element("figcaption", escaped(counted(gains.size(), "scenario") +
                                                                    "; dashed lines are values at risk"))) +
                    element("div", shares_text(r, risk)),
                "class=\"pictures\"");
    if (!risk.left_out.empty())
        out += paragraph(counted(risk.left_out.size(), "trade") +
                         " left out: not priced in every scenario of the set");
    return out;
}

}  // namespace

std::string tails_section(const page_content& of) {
    if (of.beside.scenarios == nullptr) return {};
    const scenario_results& r = *of.beside.scenarios;
    const auto risks = report::shown_of(r.risks);
    if (risks.empty()) return {};
    constexpr std::size_t most_risks = 20;
    std::string out = paragraph(
        "Value at risk is the gain at this quantile of equally likely scenarios, shortfall the mean of the "
        "gains up to it; losses are negative. Noise is the standard error from the paths, sampling the one "
        "from the scenarios.");
    for (std::size_t i = 0; i < std::min(risks.size(), most_risks); ++i) out += risk_text(r, *risks[i]);
    if (risks.size() > most_risks)
        out += paragraph("and " + counted(risks.size() - most_risks, "other tail") +
                         "; risk.csv and json output have them all");
    return out;
}

}  // namespace tilewalk::page
