// SPDX-License-Identifier: Apache-2.0
// Sums of sensitivities, with errors that know what their terms have in common.
#pragma once

#include <optional>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

// A row, so many times.
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
