// SPDX-License-Identifier: Apache-2.0
// Rows of benchmarks as text: aligned columns for a terminal, comma-separated values for a program, and the
// cells that both the terminal and a page of HTML show.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

// "asian, double, smem_rolling, distance 8": words stand alone, numbers with the name of their axis.
std::string described(const json& axes);
// An axis or a figure as a cell of its own.
std::string cell_of(const json& value);
// Three digits, no exponent where a person reads it without: "0.0123", "1.23", "1234".
std::string three_digits(double x);
// "123 us", "1.23 ms"
std::string time_text(double milliseconds);
// "2.95 TB/s"
std::string rate_text(double bytes_per_second);

// The unit in which a figure of these rows is shown: what one of it is in the figure's own, and how the
// column is called.
struct shown_in {
    double size = 1;
    std::string title;
};
shown_in unit_for(std::span<const row* const> rows, const std::string& figure);

// The results among rows of one suite. What is alike in all of them stands once, in `alike`.
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
// With the axes and the figures that a person asks for; samples and quantiles are left to CSV.
grid grid_of(std::span<const row* const> results);

// Rows that share a reason, in the order in which they came.
struct reason {
    std::string text;
    std::vector<const row*> rows;
};
std::vector<reason> reasons_of(std::span<const row* const> rows, std::string row::*why);

// The suites of a run, in its order, each with its rows.
std::vector<std::pair<std::string, std::vector<const row*>>> by_suite(const run& what);
std::vector<const row*> results_among(std::span<const row* const> rows);

// No line takes more than `columns`; a table that would leaves out numbers, and says which.
std::string table(const run& what, std::size_t columns);
// A line for each row with everything in it, every number with all its bits.
std::string csv(const run& what);

}  // namespace tilewalk::bench
