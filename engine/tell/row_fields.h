// SPDX-License-Identifier: Apache-2.0
// The figures of a trade in files: the column in tables, the JSON member and the meaning of each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewalk/columns.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

struct row_field {
    std::string_view column, json;  // names; empty if tables (JSON) don't have the field
    std::string_view meaning;       // a sentence for docs/results.md
    column_kind kind;
    cell (*value)(const price_row& row);             // null if `column` is empty
    std::string (*json_text)(const price_row& row);  // returns an empty text if the row lacks the figure
};

std::span<const row_field> row_fields();  // in the order of columns and of JSON members

// A field of a total. Totals are written to a file of their own.
struct total_field {
    std::string_view name, meaning;
    column_kind kind;
    cell (*value)(const currency_total& total);
    std::string (*json_text)(const currency_total& total);
    bool is_in_csv = true;
};

std::span<const total_field> total_fields();

struct greek_field {
    std::string_view name, meaning;
    column_kind kind;
    cell (*value)(const greek_row& row);
    std::string (*json_text)(const greek_row& row);  // returns an empty text if the row lacks the figure
    bool is_in_csv = true;
};

std::span<const greek_field> greek_fields();

}  // namespace tilewalk::report
