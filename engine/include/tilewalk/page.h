// SPDX-License-Identifier: Apache-2.0
// Results as a page for people: one self-contained file of HTML without scripts.
//
//     tilewalk::results r = engine.price(book);
//     std::ofstream("page.html") << tilewalk::page_of(r);
#pragma once

#include <string>
#include <vector>

#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"

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

}  // namespace tilewalk
