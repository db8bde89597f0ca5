// SPDX-License-Identifier: Apache-2.0
// Gains by sensitivities: terms of first and second order in a scenario's moves, and what they leave.
#pragma once

#include "tilewalk/engine.h"
#include "tilewalk/market.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

greek_options greeks_of_moves(const market& in, const scenario_list& asked);

// Fills `measures` and `explained`, without converted totals. `sensitivities` are those in the base market.
void explain_gains(scenario_results& to, const market& in, const results& sensitivities);

}  // namespace tilewalk::studies
