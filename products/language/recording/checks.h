// SPDX-License-Identifier: Apache-2.0
// Checks of operations that may leave their domain, such as the root of a number that may be negative. A path
// on which one does has no payoff that is a number: so it fails its trade.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "products/language/ranges.h"
#include "products/language/recording/frames.h"

namespace tilewalk::language::recording {

// The operations of a script that some check is for, over all its blocks.
struct checked_operations {
    std::vector<const expression*> operations;  // in the order in which they were met
    // Each has a state of its own, which ends as 0 on paths that pass its checks; else the payoff tells.
    bool are_told_apart = false;
    std::vector<std::uint32_t> states{};  // by operation, if they are told apart

    std::size_t number_of(const expression& e, program::recorder& into);
};

// The fault of an operation and its cure, for people.
std::string told(const expression& operation);

class checks {
  public:
    checks(const block_at_hand& at, values& made) : at_(at), made_(made) {}

    // Checks `v`, the result of a division, root, logarithm, exponential or power that may leave its domain.
    void check_operation(const expression& e, value v, frame& f);
    // Checks a sum, difference or product whose overflow would be lost in what the script does next.
    void check_overflow(const expression& e, value v, frame& f);

    // Adds those of `more`, which count on paths where the condition is as `side` says.
    void add(value condition, bool side, const flaws& more, flaws& to);
    // `yes` becomes what was found after both branches, which began with the same.
    void join(value condition, const flaws& before, flaws& yes, const flaws& no);
    // Keeps findings of paths on which the condition is true.
    flaws only(value condition, const flaws& of);
    // Leaves the findings of a block in the states of their operations, or in the frame for the payoff.
    void write(frame& f, value alive);

  private:
    void check(const expression& e, value v, frame& f);
    value flawed(value condition, value suspect, value number);

    const block_at_hand& at_;
    values& made_;
};

}  // namespace tilewalk::language::recording
