// SPDX-License-Identifier: Apache-2.0
// Remarks on a whole run, in the words that all who tell of runs use.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk {

// The sentence about a book without trades, which is most often an extract that failed.
inline constexpr const char* remark_on_no_trades = "the book has no trades";
// The sentence about correlations that were taken as 0 because the market states none: at least one.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

}  // namespace tilewalk
