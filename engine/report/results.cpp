// SPDX-License-Identifier: Apache-2.0
// The results themselves: counting failures, and the choice of a form to write them in.
#include "tilewalk/results.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "engine/report/formats.h"

namespace tilewalk {

namespace {

bool is_finite_or_none(double x) {
    return std::isfinite(x) || !is_figure(x);
}

// What reads as a price must be one, whichever form it is written in.
void check_finite(const price_row& row) {
    const bool priced = row.status == trade_status::priced;
    if (std::isfinite(row.quantity) && std::isfinite(row.effective_hits) &&
        std::isfinite(row.shadow_difference.value_or(0)) &&
        (!priced ||
         (std::isfinite(row.price) && std::isfinite(row.value()) && is_finite_or_none(row.standard_error) &&
          is_finite_or_none(row.value_error()) && is_finite_or_none(row.low) && is_finite_or_none(row.high))))
        return;
    throw error(error_kind::internal, "trade '" + row.trade + "' has a figure that is not finite", row.where);
}

}  // namespace

std::string pairs_text(const std::vector<factor_pair>& pairs, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i)
        out += (i == 0 ? "" : ", ") + pairs[i].first + " and " + pairs[i].second;
    if (pairs.size() > most) out += " and " + std::to_string(pairs.size() - most) + " more";
    return out;
}

std::size_t results::failed() const {
    return static_cast<std::size_t>(std::ranges::count(rows, trade_status::failed, &price_row::status));
}

std::vector<currency_total> results::totals() const {
    std::vector<currency_total> out;
    for (const auto& row : rows) {
        if (row.status != trade_status::priced) continue;
        auto at = std::ranges::find(out, row.currency, &currency_total::currency);
        if (at == out.end()) at = out.insert(at, {row.currency});
        at->trades += 1;
        if (!row.has_error()) at->without_error += 1;
        at->value += row.value();
        at->error_at_most += row.value_error();
    }
    for (auto& total : out) {
        if (!std::isfinite(total.value)) total.value = no_figure;
        if (!std::isfinite(total.error_at_most) || !is_figure(total.value)) total.error_at_most = no_figure;
    }
    return out;
}

void write(std::ostream& out, const results& r, output_format format, const text_form& form) {
    std::ranges::for_each(r.rows, check_finite);
    switch (format) {
        case output_format::table:
            out << report::table(r, form);
            return;
        case output_format::csv:
            out << report::csv(r, form);
            return;
        case output_format::json:
            out << report::json(r);
            return;
    }
}

void write_totals(std::ostream& out, const results& r, output_format format, const text_form& form) {
    std::ranges::for_each(r.rows, check_finite);
    switch (format) {
        case output_format::table:
            out << report::totals_table(r, form);
            return;
        case output_format::csv:
            out << report::totals_csv(r, form);
            return;
        case output_format::json:
            out << report::totals_json(r);
            return;
    }
}

}  // namespace tilewalk
