// SPDX-License-Identifier: Apache-2.0
// The end of commands that report scenarios: what went wrong, and the exit code.
#pragma once

#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

// Tells on standard error what went wrong, but for failures that the reader sees, and gives the exit code.
int tell_of_scenarios(const scenario_results& r, bool is_seen);

}  // namespace tilewalk::cli
