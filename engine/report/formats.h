// SPDX-License-Identifier: Apache-2.0
// The three output forms of results, and the pieces of CSV and JSON that other reports share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/columns.h"
#include "tilewalk/results.h"

namespace tilewalk::report {

// The width of a page of text, whose lines are hard to follow where they are longer than this.
inline std::size_t page_width(const text_form& form) {
    return std::min<std::size_t>(100, form.columns);
}

std::string table(const results& r, const text_form& form);
std::string json(const results& r, const text_form& form);
// The totals alone.
std::string totals_table(const results& r, const text_form& form);
std::string totals_json(const results& r);
// Sensitivities.
std::string greeks_table(const results& r, const text_form& form);
// A header line and a line a row, every number with all its bits; columns that CSV does not have are left
// out.
void csv(std::ostream& out, const column_table& table, const text_form& form);
// Throws tilewalk::error (internal) if a figure of a priced row is not finite, whichever form it is written
// in.
void check_finite(const price_row& row);
// The format that is written; those before 3 are read, too.
inline constexpr std::string_view json_format_name = "tilewalk-results-3";
inline constexpr std::string_view older_json_format_name = "tilewalk-results-2";

// A text field: quoted where RFC 4180 asks for it. It goes out as it came in, unless the form asks that no
// spreadsheet takes it for a formula.
std::string csv_field(std::string_view text, const text_form& form = {});
std::string csv_number(double x);  // empty where there is no figure
std::string json_string(std::string_view text);
// Always with a point or an exponent, so that -0.0 keeps its sign; null where there is no figure.
std::string json_number(double x);
std::string json_list(const std::vector<std::string>& texts);
std::string json_list(const std::vector<double>& numbers);
// The member "manifest", without a line break at its end, and the object of a row.
std::string manifest_json(const run_manifest& m, const text_form& form);
std::string row_json(const price_row& row, const text_form& form);

}  // namespace tilewalk::report
