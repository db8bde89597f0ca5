// SPDX-License-Identifier: Apache-2.0
// Remarks on a whole run, worded once for all outputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk {

// An empty book is most often a failed extract.
inline constexpr const char* remark_on_no_trades = "the book has no trades";
// A sentence about unstated correlations, taken as 0. `missing` must not be empty.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

// Failed trades with the reason, and the place of the first; trades that fail alike share a line.
std::vector<std::string> failure_lines(const results& of);

// A sentence if there are too few parts for standard errors, else empty. `randomisations`: 0 if none.
std::string remark_on_few_parts(const run_manifest& of, std::size_t randomisations);
std::string remark_on_few_parts(const results& of);

}  // namespace tilewalk
