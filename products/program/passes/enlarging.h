// SPDX-License-Identifier: Apache-2.0
// Adds states, terms and columns to a path program, with their numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "products/program/passes/rewriting.h"

namespace tilewalk::program {

inline index add_state(whole_program& to, std::string name, double at_start) {
    std::vector<index>& sources = to.code.state_sources;
    const auto last = std::ranges::max_element(sources);
    sources.push_back(last == sources.end() ? 0 : *last + 1);
    to.code.states.push_back(std::move(name));
    to.data.initial_states.push_back(at_start);
    return static_cast<index>(to.code.states.size() - 1);
}

inline index add_column(uniform_code& to, operation kind, std::string name) {
    const auto slot = static_cast<index>(to.inputs.size());
    to.inputs.push_back(std::move(name));
    to.columns.push_back(append(to.nodes, {kind, {slot}, 0}));
    return static_cast<index>(to.columns.size() - 1);
}

inline index add_term(whole_program& to, std::string name, double number) {
    to.data.terms.push_back(number);
    return add_column(to.code.per_trade, operation::term, std::move(name));
}

struct further_column {
    std::string name;
    std::vector<double> by_run;
    further_column(std::string called, std::vector<double> numbers)
        : name(std::move(called)), by_run(std::move(numbers)) {}
};

// Inserts columns after the section's other columns. Returns the place of the first new one.
inline index add_columns(whole_program& to, std::size_t section, const std::vector<further_column>& all) {
    uniform_code& code = to.code.sections[section].per_run;
    path_data& data = to.data;
    const std::size_t width = data.widths[section], before = code.columns.size();
    for (const further_column& c : all) add_column(code, operation::row, c.name);
    std::vector<double> rows;
    for (std::size_t run = 0; run < data.runs[section]; ++run) {
        const auto from = data.rows[section].begin() + static_cast<std::ptrdiff_t>(run * width);
        const auto tables = from + static_cast<std::ptrdiff_t>(before);
        rows.insert(rows.end(), from, tables);
        for (const further_column& c : all) rows.push_back(c.by_run[run]);
        rows.insert(rows.end(), tables, from + static_cast<std::ptrdiff_t>(width));
    }
    data.rows[section] = std::move(rows);
    data.widths[section] = width + all.size();
    return static_cast<index>(before);
}

}  // namespace tilewalk::program
