// SPDX-License-Identifier: Apache-2.0
// Results as a page for people: one file of HTML, whole in itself, which needs no script and loads nothing.
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

// Facts that a page tells beside prices and sensitivities, as far as they are known.
struct beside_results {
    // The scenarios in whose base market the results are.
    const scenario_results* scenarios = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // that makes these results, word by word
};

// Totals with their error bars, what is to be looked at, all trades, sensitivities, scenarios and tails, how
// errors fell, where the time went, and all that results follow from. All text is escaped. A long list is cut
// and says so: a page of 1,000 trades has less than 1 MB.
std::string page_of(const results& r, const beside_results& beside = {});

}  // namespace tilewalk
