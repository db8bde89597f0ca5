// SPDX-License-Identifier: Apache-2.0
// Results as tables of typed columns, the same whatever form they are written in, and the writer of Parquet.
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

// The value of a column in a row: nothing where there is none, a text as a view or of its own, a double for a
// number, whole numbers for a count and for a date, which is days since 1970-01-01.
using cell = std::variant<std::monostate, std::string_view, std::string, double, std::int64_t, bool>;

// A table that is read from results a cell at a time, in any order and by any number of threads. The results
// have to outlive it and its views of texts.
struct column_table {
    std::vector<column> columns;
    std::size_t rows = 0;
    std::function<cell(std::size_t row, std::size_t column)> at;
    std::string manifest;  // what the results say about how they were made, as JSON
};

column_table price_columns(const results& of);  // a row for each trade
column_table total_columns(const results& of);  // and for each currency
// A row for each sensitivity, and then for each total of them.
column_table greek_columns(const results& of);
// A row for each trade in each scenario.
column_table gain_columns(const scenario_results& of);
column_table kernel_columns(std::span<const warmed_kernel> kernels);
column_table kernel_columns(std::span<const tuned_kernel> kernels);

// Writes a Parquet file, without compression, in groups of rows of bounded size: what is in memory does not
// grow with the rows. Doubles keep all their bits; U+FFFD stands for each byte of a text that is not UTF-8.
// The manifest stands in the file's metadata under "tilewalk". Throws tilewalk::error (internal) for results
// with figures that are not finite.
void write_parquet(std::ostream& out, const column_table& table);

}  // namespace tilewalk
