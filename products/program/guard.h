// SPDX-License-Identifier: Apache-2.0
// Work that only one side of a choice needs. Both sides of a `select` are computed, which costs little where
// they are short; a long one is left out where nobody takes it. No bit depends on it, because a choice looks
// at one side alone.
#pragma once

#include <cstdint>
#include <vector>

#include "products/program/passes.h"

namespace tilewalk::program {

// Nodes from `first` to `last` - 1 matter only on paths where the node `condition`, which stands before them,
// is as `side` says: true is any number but 0.
struct guard {
    std::uint32_t first = 0, last = 0;
    std::uint32_t condition = 0;
    bool side = true;
};

struct guarded_section {
    lane_section code;          // in an order in which what a guard covers stands together
    std::vector<guard> guards;  // by place; none overlaps another
};

// What a side has to cost, in additions, to be worth a guard: next to each other paths rarely agree, so below
// this a branch costs a GPU about what it saves.
inline constexpr int least_guarded_cost = 100;

// What is not worth a guard stands as it stood.
guarded_section guarded(const lane_section& of, int least_cost = least_guarded_cost);

}  // namespace tilewalk::program
