// SPDX-License-Identifier: Apache-2.0
// Finds the operation of a script that left its domain, once a path gave no number.
#pragma once

#include <cstdint>
#include <string>

#include "engine/decide/planned.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/job.h"

namespace tilewalk::verbs {

// Walks the tile of `path`, the first that gave no number, once more in this precision on the CPU; `paths` is
// the walk of the run. Returns the operation's place, what is wrong there and how to mend it; all candidates
// if the path does not show it; empty if no operation may leave its domain.
std::string flaw_on_path(std::uint64_t path, const books::trade& t, const markets::market_state& in,
                         const planned& p, std::uint32_t first_scenario, run::walk paths,
                         const cpu::lane_operations& operations, program::precision precision);

// Returns the operations that may leave their domain, for a message; empty if there are none.
std::string possible_flaws(const ready_trade& of);

}  // namespace tilewalk::verbs
