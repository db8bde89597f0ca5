// SPDX-License-Identifier: Apache-2.0
// Sums of sensitivities, with errors that know what their terms have in common.
#pragma once

#include <optional>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

// The sum of rows of one unit, as a row that has the rest of the first one. Its method is "mixed" where
// theirs are several. None for no row, and where one has failed or has another unit.
std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& told);

}  // namespace tilewalk::report
