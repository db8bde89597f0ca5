// SPDX-License-Identifier: Apache-2.0
// Guards around work that only one side of a `select` needs. Both sides of a `select` are computed, which
// costs little where they are short; a long side is skipped where no path takes it. Guards change no bit,
// because a `select` reads one side alone.
#pragma once

#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// Nodes from `first` to `last` - 1 matter only on paths where the truth of the node `condition`, which stands
// before them, equals `side`; any number but 0 is true.
struct guard {
    std::uint32_t first = 0, last = 0;
    std::uint32_t condition = 0;
    bool side = true;
};

struct guarded_section {
    lane_section code;          // in an order in which what a guard covers stands together
    std::vector<guard> guards;  // by place; none overlaps another
};

// Least cost of a guarded side, in additions: neighbouring paths rarely agree, so below this a branch costs a
// GPU about what it saves.
inline constexpr int least_guarded_cost = 100;

// Nodes that are not worth a guard stay in their order.
guarded_section guarded(const lane_section& of, int least_cost = least_guarded_cost);

}  // namespace tilewalk::program
