// SPDX-License-Identifier: Apache-2.0
// Checks of operations that may leave their domain. A fault makes the payoff NaN, which fails the trade.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "products/language/ranges.h"
#include "products/language/recording/frames.h"

namespace tilewalk::language::recording {

struct checked_operations {
    std::vector<const expression*> operations;  // in order of first use
    // True: each operation has a state that ends as 0 on paths without its fault. False: faults make the
    // payoff NaN.
    bool are_told_apart = false;
    std::vector<std::uint32_t> states{};  // by operation, if they are told apart

    std::size_t number_of(const expression& e, program::recorder& into);
};

std::string told(const expression& operation);

class checks {
  public:
    checks(const block_at_hand& at, values& made) : at_(at), made_(made) {}

    // Checks `v`, the result of a division, root, logarithm, exponential or power that may leave its domain.
    void check_operation(const expression& e, value v, frame& f);
    // Checks a sum, difference or product if the script would hide its overflow later, as a comparison does.
    void check_overflow(const expression& e, value v, frame& f);

    // Adds the flaws of `more` to `to`, on paths where the condition equals `side`.
    void add(value condition, bool side, const flaws& more, flaws& to);
    // Merges the flaws of two branches into `yes`. `before` are the flaws with which both branches began.
    void join(value condition, const flaws& before, flaws& yes, const flaws& no);
    // Keeps flaws of paths on which the condition is true.
    flaws only(value condition, const flaws& of);
    // Writes the flaws of a block to the states of their operations, or to the frame for the payoff.
    void write(frame& f, value alive);

  private:
    void check(const expression& e, value v, frame& f);
    value flawed(value condition, value suspect, value number);

    const block_at_hand& at_;
    values& made_;
};

}  // namespace tilewalk::language::recording
