// SPDX-License-Identifier: Apache-2.0
// The three text forms of results, and the functions for CSV and JSON that other reports share.
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

// The width of running text: that of the terminal, but 100 at most, as longer lines are hard to read.
inline std::size_t page_width(const text_form& form) {
    return std::min<std::size_t>(100, form.columns);
}

std::string table(const results& r, const text_form& form);
std::string json(const results& r, const text_form& form);
std::string totals_table(const results& r, const text_form& form);
std::string totals_json(const results& r);
std::string greeks_table(const results& r, const text_form& form);
// Writes a header and a line for each row, numbers with all their bits. Skips columns not meant for CSV.
void csv(std::ostream& out, const column_table& table, const text_form& form);
// Throws tilewalk::error (internal) if a figure of a priced trade is not finite, for any form of output.
void check_finite(const price_row& row);

// A text as a field of CSV, quoted as RFC 4180 says if it has to be. If `form` asks for it, text that a
// spreadsheet would run as a formula is made harmless.
std::string csv_field(std::string_view text, const text_form& form = {});
std::string csv_number(double x);  // empty for an absent figure
// JSON of the manifest as a member "manifest", without a line break at its end, and of a row as an object.
std::string manifest_json(const run_manifest& m, const text_form& form);
std::string row_json(const price_row& row, const text_form& form);

}  // namespace tilewalk::report
