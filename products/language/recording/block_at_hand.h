// SPDX-License-Identifier: Apache-2.0
// The block being recorded, with its runs and its world. Statements above all blocks have neither.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "products/language/argued_script.h"
#include "products/language/payoff.h"
#include "products/language/ranges.h"

namespace tilewalk::language::recording {

using program::value;

struct checked_operations;

struct block_at_hand {
    const argued_script& script;
    program::recorder& into;
    const block* of = nullptr;
    int offset = 0;  // place of the block's first date in its schedule, from 0
    std::span<const occurrence> runs{};
    world* market = nullptr;
    // Both null if the script is executed, not recorded; an operation that leaves its domain then throws.
    const ranges* known = nullptr;
    checked_operations* checked = nullptr;

    // True if some interval is recorded in parts, because the path stops inside.
    bool is_in_parts() const {
        return std::any_of(runs.begin(), runs.end(), [](const occurrence& run) { return !run.closes(); });
    }
    std::size_t number_of(const occurrence& run) const {
        return static_cast<std::size_t>(&run - runs.data());
    }
    std::size_t place_in_schedule(const occurrence& run) const {
        return static_cast<std::size_t>(run.index - 1 + offset);
    }
    dates::time_point label_of(const occurrence& run) const {
        if (run.index < 1) return {run.ends};
        return of->labels[static_cast<std::size_t>(run.index - 1)];
    }
};

}  // namespace tilewalk::language::recording
