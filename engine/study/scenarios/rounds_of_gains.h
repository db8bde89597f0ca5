// SPDX-License-Identifier: Apache-2.0
// Scenarios to a tolerance: each round is a whole run, with more paths for all trades than the last.
#pragma once

#include <functional>

#include "engine/decide/inner_options.h"
#include "engine/decide/settled.h"
#include "tilewalk/engine.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

using study_of_scenarios = std::function<scenario_results(const book& trades, const inner_options& options)>;
// Walks more and more paths until each gain of a trade, or each total and tail, is narrow enough.
scenario_results scenarios_in_rounds(const book& trades, const market& in, const inner_options& options,
                                     const study_of_scenarios& found);
// Returns the next walk, with the same paths if more do not help. Calls `again` for new results if a trade
// fails.
walk_of_round judge(const book& trades, const market& in, const settled& run, scenario_results& so_far,
                    const study_of_scenarios& again);

}  // namespace tilewalk::studies
