// SPDX-License-Identifier: Apache-2.0
// Prices, totals, sensitivities and gains as tables of columns: what the CSV and Parquet files of results
// contain.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/tell/formats.h"
#include "engine/tell/row_fields.h"
#include "engine/tell/scenario_forms.h"
#include "products/dates/date.h"
#include "tilewalk/columns.h"

namespace tilewalk {

namespace {

using report::gain_interval;

std::string manifest_of(const results& r) {
    return "{\n" + report::manifest_json(r.manifest, {}) + "\n}\n";
}

// Makes a table whose columns are `fields`. `item(row)` returns the object whose fields fill that row.
template <class Field, class Item>
column_table table_of(std::span<const Field> fields, std::size_t rows, Item item, std::string manifest) {
    column_table out;
    for (const Field& field : fields) out.columns.push_back({field.name, field.kind, field.is_in_csv});
    out.rows = rows;
    out.at = [fields, item = std::move(item)](std::size_t row, std::size_t column) {
        return fields[column].value(item(row));
    };
    out.manifest = std::move(manifest);
    return out;
}

struct told_gains {
    explicit told_gains(const scenario_results& of) : r(of), messages(of) {
        for (const portfolio_gains& total : of.totals)
            if (total.is_converted) currency = total.currency;
        has_converted = of.converted_gains.size() == of.gains.size() && !currency.empty() &&
                        of.converted_errors.size() == of.gains.size();
    }

    const scenario_results& r;
    report::messages_of_failures messages;
    std::string_view currency;  // currency of the converted gains
    bool has_converted = false;
};

struct told_gain {
    const told_gains& in;
    std::size_t scenario = 0, trade = 0;

    std::size_t place() const { return scenario * in.r.trades() + trade; }
    const tilewalk::scenario& of_scenario() const { return in.r.scenarios[scenario]; }
    const price_row& row() const { return in.r.base.rows[trade]; }
    double gain() const { return in.r.gains[place()]; }
    std::optional<std::pair<double, double>> interval() const {
        return gain_interval(gain(), in.r.errors[place()], report::parts_of(row()));
    }
};

cell gain_cell(double x) {
    return is_figure(x) ? cell(x) : cell();
}

cell day(const std::string& iso) {
    const auto date = dates::parse_date(iso);
    return date ? cell(std::int64_t{date->serial}) : cell();
}

struct gain_field {
    std::string_view name;
    column_kind kind;
    cell (*value)(const told_gain& of);
    bool is_in_csv = true;
};

constexpr std::array gains{
    gain_field{"set", column_kind::text,
               [](const told_gain& g) -> cell { return std::string_view(g.of_scenario().set); }},
    gain_field{"scenario", column_kind::text,
               [](const told_gain& g) -> cell { return std::string_view(g.of_scenario().name); }},
    gain_field{"trade", column_kind::text,
               [](const told_gain& g) -> cell { return std::string_view(g.row().trade); }},
    gain_field{"portfolio", column_kind::text,
               [](const told_gain& g) -> cell {
                   return g.trade < g.in.r.portfolios.size() ? std::string_view(g.in.r.portfolios[g.trade])
                                                             : std::string_view();
               }},
    gain_field{"currency", column_kind::text,
               [](const told_gain& g) -> cell { return std::string_view(g.row().currency); }},
    gain_field{"base_value", column_kind::number,
               [](const told_gain& g) { return gain_cell(report::base_value(g.row())); }},
    gain_field{"gain", column_kind::number, [](const told_gain& g) { return gain_cell(g.gain()); }},
    gain_field{"standard_error", column_kind::number,
               [](const told_gain& g) { return gain_cell(g.in.r.errors[g.place()]); }},
    gain_field{"low", column_kind::number,
               [](const told_gain& g) {
                   const auto ends = g.interval();
                   return ends ? cell(ends->first) : cell();
               }},
    gain_field{"high", column_kind::number,
               [](const told_gain& g) {
                   const auto ends = g.interval();
                   return ends ? cell(ends->second) : cell();
               }},
    gain_field{"message", column_kind::text,
               [](const told_gain& g) -> cell {
                   return is_figure(g.gain()) ? std::string_view()
                                              : g.in.messages.message_of(g.scenario, g.trade);
               }},
    gain_field{
        "converted_to", column_kind::text,
        [](const told_gain& g) -> cell { return g.in.has_converted ? g.in.currency : std::string_view(); }},
    gain_field{"converted_gain", column_kind::number,
               [](const told_gain& g) {
                   return g.in.has_converted ? gain_cell(g.in.r.converted_gains[g.place()]) : cell();
               }},
    gain_field{"converted_error", column_kind::number,
               [](const told_gain& g) {
                   return g.in.has_converted ? gain_cell(g.in.r.converted_errors[g.place()]) : cell();
               }},
    gain_field{"first_day", column_kind::date,
               [](const told_gain& g) { return day(g.of_scenario().first_day); }, false},
    gain_field{"last_day", column_kind::date,
               [](const told_gain& g) { return day(g.of_scenario().last_day); }, false},
};

}  // namespace

column_table price_columns(const results& of) {
    for (const price_row& row : of.rows) report::check_finite(row);
    column_table out;
    std::vector<cell (*)(const price_row&)> values;
    for (const report::row_field& field : report::row_fields()) {
        if (field.value == nullptr) continue;
        out.columns.push_back({field.column, field.kind});
        values.push_back(field.value);
    }
    out.rows = of.rows.size();
    out.at = [&of, values = std::move(values)](std::size_t row, std::size_t column) {
        return values[column](of.rows[row]);
    };
    out.manifest = manifest_of(of);
    return out;
}

column_table total_columns(const results& of) {
    for (const price_row& row : of.rows) report::check_finite(row);
    const auto totals = std::make_shared<const std::vector<currency_total>>(of.totals());
    return table_of(
        report::total_fields(), totals->size(),
        [totals](std::size_t row) -> const currency_total& { return (*totals)[row]; }, manifest_of(of));
}

column_table greek_columns(const results& of) {
    const auto totals = std::make_shared<const std::vector<greek_row>>(of.greek_totals());
    return table_of(
        report::greek_fields(), of.greeks.size() + totals->size(),
        [&of, totals](std::size_t row) -> const greek_row& {
            return row < of.greeks.size() ? of.greeks[row] : (*totals)[row - of.greeks.size()];
        },
        manifest_of(of));
}

column_table gain_columns(const scenario_results& of) {
    const auto told = std::make_shared<const told_gains>(of);
    return table_of(
        std::span<const gain_field>(gains), of.scenarios.size() * of.trades(),
        [told](std::size_t row) {
            const std::size_t trades = told->r.trades();
            return told_gain{*told, row / trades, row % trades};
        },
        manifest_of(of.base));
}

}  // namespace tilewalk
