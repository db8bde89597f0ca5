// SPDX-License-Identifier: Apache-2.0
// Writes results in the requested form, and reads results back from JSON.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "engine/decide/read_results.h"
#include "engine/tell/formats.h"
#include "tilewalk/columns.h"
#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk {

namespace {

bool is_finite_or_none(double x) {
    return std::isfinite(x) || !is_figure(x);
}

}  // namespace

void report::check_finite(const price_row& row) {
    const bool priced = row.status == trade_status::priced;
    if ((std::isfinite(row.quantity) || !priced) && std::isfinite(row.effective_hits) &&
        std::isfinite(row.shadow_difference.value_or(0)) &&
        (!priced ||
         (std::isfinite(row.price) && std::isfinite(row.value()) && is_finite_or_none(row.standard_error) &&
          is_finite_or_none(row.value_error()) && is_finite_or_none(row.low) && is_finite_or_none(row.high))))
        return;
    throw error(error_kind::internal, "trade '" + row.trade + "' has a figure that is not finite", row.where);
}

void write(std::ostream& out, const results& r, output_format format, const text_form& form) {
    std::ranges::for_each(r.rows, report::check_finite);
    switch (format) {
        case output_format::table:
            out << report::table(r, form);
            return;
        case output_format::csv:
            report::csv(out, price_columns(r), form);
            return;
        case output_format::json:
            out << report::json(r, form);
            return;
    }
}

void write_greeks(std::ostream& out, const results& r, output_format format, const text_form& form) {
    std::ranges::for_each(r.rows, report::check_finite);
    switch (format) {
        case output_format::table:
            out << report::greeks_table(r, form);
            return;
        case output_format::csv:
            report::csv(out, greek_columns(r), form);
            return;
        case output_format::json:
            out << report::json(r, form);
            return;
    }
}

void write_totals(std::ostream& out, const results& r, output_format format, const text_form& form) {
    std::ranges::for_each(r.rows, report::check_finite);
    switch (format) {
        case output_format::table:
            out << report::totals_table(r, form);
            return;
        case output_format::csv:
            report::csv(out, total_columns(r), form);
            return;
        case output_format::json:
            out << report::totals_json(r);
            return;
    }
}

results read_results(const std::string& json, const std::string& name) {
    report::told_results told = report::read_told_results(json, name);
    return {std::move(told.rows), std::move(told.manifest), std::move(told.greeks), {}};
}

}  // namespace tilewalk
