// SPDX-License-Identifier: Apache-2.0
// The operation of a script that left its domain, found once a path of the trade gave no number.
#pragma once

#include <cstdint>
#include <string>

#include "engine/decide/planned.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/job.h"

namespace tilewalk::verbs {

// Finds the operation on the path with this number, the first that gave no number, by walking its tile once
// more in this precision, on the CPU; `paths` is the walk of the run. The text has the operation's place,
// what is wrong there and how to mend it; every operation that may be it where that path does not show it
// there; empty where no operation of the script may leave its domain.
std::string flaw_on_path(std::uint64_t path, const books::trade& t, const markets::market_state& in,
                         const planned& p, std::uint32_t first_scenario, run::walk paths,
                         const cpu::lane_operations& operations, program::precision precision);

// The operations of a script that may leave their domain, for a message; empty if there are none.
std::string possible_flaws(const ready_trade& of);

}  // namespace tilewalk::verbs
