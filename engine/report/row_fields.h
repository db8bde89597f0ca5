// SPDX-License-Identifier: Apache-2.0
// The figures of a trade in files: each with its column in CSV, its member in JSON and its meaning, in one
// place.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewalk/results.h"

namespace tilewalk::report {

struct row_field {
    std::string_view csv, json;  // names; empty where the form has no such field
    std::string_view meaning;    // a sentence for docs/results.md
    std::string (*csv_text)(const price_row& row, const text_form& form);
    std::string (*json_text)(const price_row& row);  // an empty text: the row has no such member
};

std::span<const row_field> row_fields();  // in the order of the columns and members

// The same of a total, which CSV has in a file of its own.
struct total_field {
    std::string_view name, meaning;
    std::string (*csv_text)(const currency_total& total, const text_form& form);
    std::string (*json_text)(const currency_total& total);
};

std::span<const total_field> total_fields();

// The same of a sensitivity. A member that CSV does not have has no text for it.
struct greek_field {
    std::string_view name, meaning;
    std::string (*csv_text)(const greek_row& row, const text_form& form);
    std::string (*json_text)(const greek_row& row);  // an empty text: the row has no such member
};

std::span<const greek_field> greek_fields();

}  // namespace tilewalk::report
