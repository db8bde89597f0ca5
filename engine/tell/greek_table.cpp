// SPDX-License-Identifier: Apache-2.0
// Sensitivities as a table for people: by trade and measure, with totals at the end.
#include <algorithm>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/tell/formats.h"
#include "tilewalk/printable.h"
#include "tilewalk/results.h"

namespace tilewalk::report {

namespace {

std::string size_of_error(double x) {
    return is_figure(x) ? significant(x, 3) : "";
}

// A table that leaves out words repeated from the line above, so that the eye finds where a trade begins.
std::string ladder(const std::vector<greek_row>& rows, const text_form& form) {
    columns table({{"trade"},
                   {"measure"},
                   {"key"},
                   {"value", align::point},
                   {"std error", align::right},
                   {"bias", align::right},
                   {"method"},
                   {"unit"}});
    const greek_row* before = nullptr;
    for (const greek_row& row : rows) {
        const bool is_next = before == nullptr || before->trade != row.trade;
        const bool is_next_measure = is_next || before->measure != row.measure;
        table.add({is_next ? (row.trade.empty() ? "total" : printable(row.trade)) : "",
                   is_next_measure ? row.measure : "", row.key.empty() ? "all" : printable(row.key),
                   row.has_failed() ? "failed" : justified(row.value, row.standard_error),
                   row.has_failed() ? "" : size_of_error(row.standard_error),
                   row.bias > 0 ? significant(row.bias, 2) : "", row.method, printable(row.unit)});
        before = &row;
    }
    return fitted(table, form.columns, {{"trade", 12}, {"bias"}, {"method"}, {"unit", 12}, {"unit"}});
}

}  // namespace

std::string greeks_table(const results& r, const text_form& form) {
    std::string out = ladder(r.greeks, form);
    if (const std::vector<greek_row> totals = r.greek_totals(); !totals.empty())
        out += "\n" + ladder(totals, form);
    std::string failures;
    for (const greek_row& row : r.greeks) {
        if (!row.has_failed()) continue;
        failures += hanging("  " + printable(row.trade) + ", " + row.measure + " " + printable(row.key) +
                                ": " + printable(row.message),
                            form.columns, 4);
    }
    if (!failures.empty()) out += "\nwithout a value:\n" + failures;
    const run_manifest& m = r.manifest;
    out += "\n" + hanging(counted(m.paths, "path") + ", seed " + std::to_string(m.seed) + ", " + m.precision +
                              " precision, as of " + printable(m.as_of),
                          form.columns, 2);
    out += hanging(
        "pathwise: the derivative of each path; smoothed: the same with jumps smoothed, bias estimated with "
        "twice the width; likelihood_ratio: the same with jumps held in place, plus the score of the shocks "
        "that hold them; bump: the difference of two prices on the same random numbers, bias estimated with "
        "half the move; bumped_pathwise: the difference of two pathwise derivatives",
        form.columns, 2);
    if (const std::string few = remark_on_few_parts(r); !few.empty()) out += hanging(few, form.columns, 2);
    return out;
}

}  // namespace tilewalk::report
