// SPDX-License-Identifier: Apache-2.0
// A picture of a trade: its dates, observations and payments, and some of the paths that price it.
//
//     tilewalk::trade_paths paths = tilewalk::paths_of(engine, book, market, "asian_1");
//     std::ofstream("asian_1.svg") << tilewalk::picture_of(plan, paths);
#pragma once

#include <string>

#include "tilewalk/sample_paths.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

// Returns self-contained SVG for light and dark themes: a time line of the dates, and below it the paths of
// each asset with the trade's amounts in their range, such as strikes and barriers.
std::string picture_of(const trade_plan& plan, const trade_paths& paths);

}  // namespace tilewalk
