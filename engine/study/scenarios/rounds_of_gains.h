// SPDX-License-Identifier: Apache-2.0
// Scenarios to a tolerance: all trades take the same paths, since totals and tails are of all of them. A
// round is a run of its own, with more paths than the one before, and the last one is what is told.
#pragma once

#include <functional>

#include "engine/decide/settled.h"
#include "tilewalk/engine.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

using study_of_scenarios = std::function<scenario_results(const book& trades, const run_options& options)>;
// In as many rounds as the run asks for: each gain of a trade, or each total and tail, is to be as narrow as
// its tolerance.
scenario_results scenarios_in_rounds(const book& trades, const market& in, const run_options& options,
                                     const study_of_scenarios& found);
// The walk of the next round after these results; no more paths than they have where they are as narrow as
// was asked for, or get no narrower. Rows say which gains are too wide. `again` finds the results anew, where
// a trade fails that can't be measured.
walk_of_round judge(const book& trades, const market& in, const settled& run, scenario_results& so_far,
                    const study_of_scenarios& again);

}  // namespace tilewalk::verbs
