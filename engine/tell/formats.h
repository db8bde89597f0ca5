// SPDX-License-Identifier: Apache-2.0
// The three text forms of results, and the pieces of CSV that other reports share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "tilewalk/columns.h"
#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk::report {

// The width of a page of text. Longer lines are hard to read.
inline std::size_t page_width(const text_form& form) {
    return std::min<std::size_t>(100, form.columns);
}

std::string table(const results& r, const text_form& form);
std::string json(const results& r, const text_form& form);
std::string totals_table(const results& r, const text_form& form);
std::string totals_json(const results& r);
std::string greeks_table(const results& r, const text_form& form);
// Writes a header and a line per row, with all bits of every number. Columns that CSV lacks are left out.
void csv(std::ostream& out, const column_table& table, const text_form& form);
// Throws tilewalk::error (internal) if a figure of a priced row is not finite, for every form of output.
void check_finite(const price_row& row);

// A text field, quoted by RFC 4180 where necessary. Otherwise unchanged, unless the form asks for protection
// from formulas of spreadsheets.
std::string csv_field(std::string_view text, const text_form& form = {});
std::string csv_number(double x);  // empty where there is no figure
// The member "manifest", without a line break at its end, and the object of a row.
std::string manifest_json(const run_manifest& m, const text_form& form);
std::string row_json(const price_row& row, const text_form& form);

}  // namespace tilewalk::report
