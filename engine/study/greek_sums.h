// SPDX-License-Identifier: Apache-2.0
// Sums of sensitivities, with errors that know what their terms have in common.
#pragma once

#include <optional>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

// Returns the one walk of all rows that took one; 0 if there is none, or several. Rows may be null.
template <class rows>
std::uint64_t walk_of_all(const rows& all) {
    std::uint64_t out = 0;
    for (const auto* row : all) {
        if (row == nullptr || (row->walk == 0 && row->part_means.empty())) continue;
        if (row->walk == 0 || (out != 0 && row->walk != out)) return 0;
        out = row->walk;
    }
    return out;
}

struct greek_term {
    const greek_row* row;
    double factor;
};
// Returns the sum, with the texts of `as`. A failed term leaves its message and no value.
greek_row sum_of(const std::vector<greek_term>& terms, greek_row as, const run_manifest& told);

// Keeps the rest of the first row; the method may be "mixed". Empty for no rows, failures or other units.
std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& told);

// Adds a trade's rows by measure, each measure followed by its total if it has one and the rows share a unit.
void add_with_totals(results& to, std::vector<greek_row> of_trade);

}  // namespace tilewalk::report
