// SPDX-License-Identifier: Apache-2.0
// Pages and pictures for people: files of HTML and SVG, each whole in itself, which need no script and load
// nothing.
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
    // Scenarios whose base market priced the results; may be null.
    const scenario_results* scenarios = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // words of the command line that reproduces the results
};

// Shows totals, warnings, trades, sensitivities, scenarios, convergence, timings and the manifest. All text
// is escaped. Long lists are cut and say so: a page of 1,000 trades has less than 1 MB.
std::string page_of(const results& r, const beside_results& beside = {});

// A trade as SVG, light and dark: a time line of its dates, and below it the paths of each asset with the
// amounts among the trade's terms that lie among them, such as strikes and barriers.
std::string picture_of(const trade_plan& plan, const trade_paths& paths);

}  // namespace tilewalk
