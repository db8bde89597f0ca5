// SPDX-License-Identifier: Apache-2.0
// A trade as a picture: its dates, what is watched and paid when, and some of the paths that price it.
//
//     tilewalk::trade_paths paths = tilewalk::paths_of(engine, book, market, "asian_1");
//     std::ofstream("asian_1.svg") << tilewalk::picture_of(plan, paths);
#pragma once

#include <string>

#include "tilewalk/sample_paths.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

// As SVG, whole in itself, light and dark: a time line of the dates, and below it the paths of each asset
// with the amounts among the trade's terms that lie among them, such as strikes and barriers.
std::string picture_of(const trade_plan& plan, const trade_paths& paths);

}  // namespace tilewalk
