// SPDX-License-Identifier: Apache-2.0
// Gains as sensitivities explain them: the terms of the first and second order of the moves of a scenario, by
// measure, and what they leave.
#pragma once

#include "tilewalk/engine.h"
#include "tilewalk/market.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

// The sensitivities that moves of these scenarios need.
greek_options greeks_of_moves(const market& in, const scenario_list& asked);

// Fills `measures` and `explained` for each portfolio and currency that is not converted. `sensitivities` are
// those of the base market.
void explain_gains(scenario_results& to, const market& in, const results& sensitivities);

}  // namespace tilewalk::verbs
