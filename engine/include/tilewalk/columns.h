// SPDX-License-Identifier: Apache-2.0
// Results as tables of typed columns, independent of the output format, and the Parquet writer.
//
//     tilewalk::results r = engine.price(book);
//     write_parquet(file, tilewalk::price_columns(r));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilewalk {

struct results;
struct scenario_results;
struct tuned_kernel;
struct warmed_kernel;

enum class column_kind { text, number, count, truth, date };

struct column {
    std::string_view name;
    column_kind kind = column_kind::text;
    bool is_in_csv = true;
};

// A cell of a column_table; monostate if empty. Counts are integers, dates are days since 1970-01-01.
using cell = std::variant<std::monostate, std::string_view, std::string, double, std::int64_t, bool>;

// A view of results as a table, whose cells any number of threads may read in any order. The results must
// outlive the view and its strings.
struct column_table {
    std::vector<column> columns;
    std::size_t rows = 0;
    std::function<cell(std::size_t row, std::size_t column)> at;
    std::string manifest;  // manifest of the results, as JSON
};

column_table price_columns(const results& of);  // a row for each trade
column_table total_columns(const results& of);  // a row for each currency
// A row for each sensitivity, then a row for each total.
column_table greek_columns(const results& of);
column_table gain_columns(const scenario_results& of);
column_table kernel_columns(std::span<const warmed_kernel> kernels);
column_table kernel_columns(std::span<const tuned_kernel> kernels);

// Writes an uncompressed Parquet file in row groups of bounded size, so memory does not grow with the rows.
// Doubles keep all their bits; U+FFFD replaces each byte that is not UTF-8. The file's metadata holds the
// manifest under "tilewalk". Throws tilewalk::error (internal) for figures that are not finite.
void write_parquet(std::ostream& out, const column_table& table);

}  // namespace tilewalk
