// SPDX-License-Identifier: Apache-2.0
// Sums of sensitivities, with errors that know what their terms have in common.
#pragma once

#include <optional>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

// A row, so many times.
// The walk that all rows of these are of that took one, prices or sensitivities, of which some may be null.
// 0: there is none, or there are several.
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
// The sum of such terms, in the words of `as`. A term that has failed leaves its message and no value.
greek_row sum_of(const std::vector<greek_term>& terms, greek_row as, const run_manifest& told);

// The sum of rows of one unit, as a row that has the rest of the first one. Its method is "mixed" where
// theirs are several. None for no row, and where one has failed or has another unit.
std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& told);

// Adds the rows of a trade, measure by measure, each followed by the total over the numbers of the measure if
// it has one and they move in one unit.
void add_with_totals(results& to, std::vector<greek_row> of_trade);

}  // namespace tilewalk::report
