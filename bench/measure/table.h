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

// Axes in words, such as "asian, double, smem_rolling, distance 8": words alone, numbers after their axis.
std::string described(const json& axes);
std::string cell_of(const json& value);
// Formats with three significant digits, without an exponent for ordinary sizes: "0.0123", "1.23", "1234".
std::string three_digits(double x);
std::string time_text(double milliseconds);
std::string rate_text(double bytes_per_second);

// The unit in which a column shows a figure: its size in the stored unit, and the column's title.
struct shown_in {
    double size = 1;
    std::string title;
};
shown_in unit_for(std::span<const row* const> rows, const std::string& figure);

// A table of one suite's results. Axes with the same value in all rows stand in `alike` instead of a column.
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
// Results of one suite with the same kind, workload and device. Each such group gets a table of its own.
struct kind_of_rows {
    std::string name{};               // such as "bandwidth"; empty if there is only one kind
    std::vector<std::string> axes{};  // axes whose values the name already states
    std::vector<const row*> rows{};
};
std::vector<kind_of_rows> by_kind(std::span<const row* const> results);
// The table of one kind, without the axes that its name states.
grid grid_of(const kind_of_rows& kind);

// The axes and figures that people read; samples and quantiles are only in CSV.
grid grid_of(std::span<const row* const> results);

struct reason {
    std::string text;
    std::vector<const row*> rows;
};
std::vector<reason> reasons_of(std::span<const row* const> rows, std::string row::*why);

// The rows of a run by suite, in the order in which suites occur.
std::vector<std::pair<std::string, std::vector<const row*>>> by_suite(const run& what);
std::vector<const row*> results_among(std::span<const row* const> rows);

// The run as text, no line longer than `columns`: too wide a table leaves out numbers, and says which.
std::string table(const run& what, std::size_t columns);
// A CSV line for each row, with all axes and figures, and numbers that read back exactly.
std::string csv(const run& what);

}  // namespace tilewalk::bench
