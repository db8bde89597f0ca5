// SPDX-License-Identifier: Apache-2.0
// Guards around work that only one side of a `select` needs. Short sides are both computed; a long side is
// skipped if no path takes it. Guards change no bit, because a `select` reads one side only.
#pragma once

#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// Nodes `first` to `last` - 1 matter only where the earlier node `condition` (true if not 0) equals `side`.
struct guard {
    std::uint32_t first = 0, last = 0;
    std::uint32_t condition = 0;
    bool side = true;
};

struct guarded_section {
    lane_section code;          // nodes that a guard covers are adjacent
    std::vector<guard> guards;  // in order of their nodes; disjoint
};

// Least cost of a guarded side, in additions. Below, a branch costs a GPU about what it saves.
inline constexpr int least_guarded_cost = 100;

// Moves the nodes of a guard together; nodes outside of guards keep their order.
guarded_section guarded(const lane_section& of, int least_cost = least_guarded_cost);

}  // namespace tilewalk::program
