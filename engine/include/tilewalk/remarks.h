// SPDX-License-Identifier: Apache-2.0
// Remarks on a whole run, in the words that all who tell of runs use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk {

// The sentence about a book without trades, which is most often an extract that failed.
inline constexpr const char* remark_on_no_trades = "the book has no trades";
// The sentence about correlations that were taken as 0 because the market states none: at least one.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

// The trades that failed with the reason, and the place of the first; many that fail alike are one line.
std::vector<std::string> failure_lines(const results& of);

// The sentence of a run with too few parts for standard errors, which says how many paths would do; empty of
// other runs. `randomisations`: those of its points, 0 if its paths are independent.
std::string remark_on_few_parts(const run_manifest& of, std::size_t randomisations);
// The same where sensitivities have no standard error.
std::string remark_on_few_parts(const results& of);

}  // namespace tilewalk
