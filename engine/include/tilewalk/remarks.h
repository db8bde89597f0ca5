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
// A sentence about correlations taken as 0 because the market does not state them. `missing` must not be
// empty.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

// Failed trades with the reason, and the place of the first; trades that fail alike share a line.
std::vector<std::string> failure_lines(const results& of);

// A sentence about too few parts for standard errors, with the number of paths that would do; otherwise
// empty. `randomisations` is 0 for independent paths.
std::string remark_on_few_parts(const run_manifest& of, std::size_t randomisations);
std::string remark_on_few_parts(const results& of);

}  // namespace tilewalk
