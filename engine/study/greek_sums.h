// SPDX-License-Identifier: Apache-2.0
// Sums of sensitivities, whose errors allow for what the terms share.
#pragma once

#include <optional>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

// Returns the fingerprint of the walk that all rows with paths share; 0 if there are several walks or none.
// Rows may be null.
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
// Returns the sum, named like `as`. If a term failed, the sum has its message and no value.
greek_row sum_of(const std::vector<greek_term>& terms, greek_row as, const run_manifest& manifest);

// Names the sum like the first row; the method may be "mixed". Empty if there are no rows, or one failed or
// has another unit.
std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& manifest);

// Adds rows by measure. A total follows each measure that has one, if the rows share a unit.
void add_with_totals(results& to, std::vector<greek_row> of_trade);

}  // namespace tilewalk::report
