// SPDX-License-Identifier: Apache-2.0
// HTML pages and SVG pictures of results for people. Each is a file without scripts that loads nothing.
//
//     tilewalk::results r = engine.price(book);
//     std::ofstream("page.html") << tilewalk::page_of(r);
//     tilewalk::trade_paths paths = tilewalk::paths_of(engine, book, market, "asian_1");
//     std::ofstream("asian_1.svg") << tilewalk::picture_of(plan, paths);
#pragma once

#include <string>
#include <vector>

#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

struct beside_results {
    // Scenarios whose base prices are the results; may be null.
    const scenario_results* scenarios = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // words of the command line that reproduces the results
};

// A page with totals, warnings, trades, sensitivities, scenarios, convergence, timings and the manifest. All
// text is escaped. Long lists are cut and say so: a page of 1,000 trades has less than 1 MB.
std::string page_of(const results& r, const beside_results& beside = {});

// A picture of a trade, for light and dark backgrounds: a time line of its dates, and below it paths of each
// asset, with levels of the trade among them, such as strikes and barriers.
std::string picture_of(const trade_plan& plan, const trade_paths& paths);

}  // namespace tilewalk
