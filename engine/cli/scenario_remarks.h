// SPDX-License-Identifier: Apache-2.0
// Reports failures in scenarios, for the commands that find gains.
#pragma once

#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

// Prints failures on standard error, without those that the output shows if `is_seen`. Returns the exit code.
int tell_of_scenarios(const scenario_results& r, bool is_seen);

}  // namespace tilewalk::cli
