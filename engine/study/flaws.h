// SPDX-License-Identifier: Apache-2.0
// Finds which operation of a script left its domain, such as log(-1), if a path has no finite result.
#pragma once

#include <cstdint>
#include <string>

#include "engine/decide/planned.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/job.h"

namespace tilewalk::studies {

// Walks the tile of `path`, the first path without a finite result, again on the CPU in this precision.
// `paths` is the walk of the run.
// Returns the operation, what is wrong there and how to mend it; all candidates if the path does not show
// which; empty if no operation can leave its domain.
std::string flaw_on_path(std::uint64_t path, const books::trade& t, const markets::market_state& in,
                         const planned& p, std::uint32_t first_scenario, run::walk paths,
                         const cpu::lane_operations& operations, program::precision precision);

// Names the operations that can leave their domain, for a message; empty if none can.
std::string possible_flaws(const ready_trade& of);

}  // namespace tilewalk::studies
