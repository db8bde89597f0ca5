// SPDX-License-Identifier: Apache-2.0
// The end of commands that report scenarios: failures and the exit code.
#pragma once

#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

// Prints failures on standard error, except those visible in the output if `is_seen`, and returns the exit
// code.
int tell_of_scenarios(const scenario_results& r, bool is_seen);

}  // namespace tilewalk::cli
