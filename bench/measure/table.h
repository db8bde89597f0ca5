// SPDX-License-Identifier: Apache-2.0
// Rows of benchmarks as text: columns for a terminal, CSV, and cells that HTML pages share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

// A description such as "asian, double, smem_rolling, distance 8": words, and numbers with their axis.
std::string described(const json& axes);
std::string cell_of(const json& value);
// Three digits, without an exponent for ordinary sizes: "0.0123", "1.23", "1234".
std::string three_digits(double x);
std::string time_text(double milliseconds);
std::string rate_text(double bytes_per_second);

// The unit in which a figure is shown: its size in the figure's own unit, and the column's title.
struct shown_in {
    double size = 1;
    std::string title;
};
shown_in unit_for(std::span<const row* const> rows, const std::string& figure);

// The results among the rows of one suite. Cells that are equal in all rows are in `alike`.
struct grid {
    std::vector<std::pair<std::string, std::string>> alike;
    struct column {
        std::string title;
        bool is_number = false;
        std::vector<std::string> cells;
    };
    std::vector<column> columns;
    std::size_t rows = 0;
};
// Results of one suite with the same kind, workload and device; each kind has its own columns.
struct kind_of_rows {
    std::string name{};               // "bandwidth"; empty where all are of one kind
    std::vector<std::string> axes{};  // those that the name tells of
    std::vector<const row*> rows{};
};
std::vector<kind_of_rows> by_kind(std::span<const row* const> results);
// Leaves out the axes in the kind's name.
grid grid_of(const kind_of_rows& kind);

// The axes and figures for people; samples and quantiles are only in CSV.
grid grid_of(std::span<const row* const> results);

struct reason {
    std::string text;
    std::vector<const row*> rows;
};
std::vector<reason> reasons_of(std::span<const row* const> rows, std::string row::*why);

// The suites of a run, in its order, each with its rows.
std::vector<std::pair<std::string, std::vector<const row*>>> by_suite(const run& what);
std::vector<const row*> results_among(std::span<const row* const> rows);

// No line is longer than `columns`; too wide a table leaves out numbers, and says which.
std::string table(const run& what, std::size_t columns);
// A line for each row with all its values, and every number with all its bits.
std::string csv(const run& what);

}  // namespace tilewalk::bench
