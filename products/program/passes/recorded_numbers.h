// SPDX-License-Identifier: Apache-2.0
// Converts the data of a path program to that of a recorded program made from it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "products/program/adjoint.h"
#include "products/program/passes.h"

namespace tilewalk::program {

// Turns columns into terms and rows. `add_to_row` appends numbers to a row. Initial states stay unset.
inline program_data recorded_numbers(
    const path_program& of, const path_data& data,
    const std::function<void(std::size_t section, std::size_t run, std::vector<double>& row)>& add_to_row) {
    program_data out;
    out.terms = data.terms;
    out.runs = data.runs;
    for (std::size_t s = 0; s < of.sections.size(); ++s) {
        const lane_section& from = of.sections[s];
        const auto at = [&](std::size_t run, std::size_t place) {
            return data.rows[s].begin() + static_cast<std::ptrdiff_t>(run * data.widths[s] + place);
        };
        std::vector<double>& rows = out.rows.emplace_back();
        for (std::size_t run = 0; run < data.runs[s]; ++run) {
            rows.insert(rows.end(), at(run, 0), at(run, from.per_run.columns.size()));
            add_to_row(s, run, rows);
        }
        out.widths.push_back(data.runs[s] == 0 ? 0 : rows.size() / data.runs[s]);
        auto& tables = out.tables.emplace_back();
        for (std::size_t t = 0; t < from.tables.size(); ++t) {
            std::vector<double>& numbers = tables.emplace_back();
            const std::size_t place = from.place_of_table(t);
            for (std::size_t run = 0; run < data.runs[s]; ++run)
                numbers.insert(numbers.end(), at(run, place), at(run, place + from.tables[t].size));
        }
    }
    out.scenarios = data.scenarios;
    out.normal_names = data.normal_names;
    out.uniform_names = data.uniform_names;
    return out;
}

// Appends one over the width of each smoothed comparison of the section, for one of its runs; 0 for width 0.
inline void add_narrowness(const std::vector<jump>& smoothed, const smoothing& widths, std::size_t section,
                           std::size_t run, std::vector<double>& row) {
    for (std::size_t j = 0; j < smoothed.size(); ++j) {
        if (smoothed[j].section != section) continue;
        row.push_back(widths[j][run] > 0 ? 1 / widths[j][run] : 0.0);
    }
}

}  // namespace tilewalk::program
