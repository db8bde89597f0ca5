// SPDX-License-Identifier: Apache-2.0
// The values of a script's variables on each branch through a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "products/language/recording/values.h"

namespace tilewalk::language::recording {

// Slots of a script's states in the recorder.
struct state_slots {
    std::uint32_t value = 0, alive = 0;
    std::vector<std::vector<std::uint32_t>> variables;  // by variable and element
};

// Findings of checks at one point of a block: numbers that are finite on paths that passed, by operation if
// these are told apart, else one for all.
using flaws = std::map<std::size_t, value>;

// The values that names have at one point of a block.
struct frame {
    std::vector<std::vector<value>> variables;  // by variable and element; not valid: as the block began
    value paid;                                 // in this block so far; not valid: nothing
    value going;                                // a truth: not stopped in this block; not valid: surely going
    language::recording::flaws flaws;
    value suspect;          // of the block, with which its payoff is written; not valid: none
    value flaw;             // of the block, part of what it pays; not valid: none
    bool is_played = true;  // false: the script is asked what it would do, and nothing is checked
};

class frames {
  public:
    frames(const block_at_hand& at, const state_slots& slots, values& made);

    // A frame of the right shape in which nothing is assigned yet.
    const frame& at_first() const { return first_; }
    // The number of values of all variables together.
    std::size_t elements() const { return elements_; }
    std::uint32_t value_state() const { return slots_.value; }
    value value_of(const frame& f, std::size_t variable, std::size_t element);

    // Merges two branches: `yes` becomes the frame after both.
    void join(value condition, frame& yes, const frame& no);
    // In an interval in parts, the effects of the statements count in the last part only.
    void keep_until_the_interval_ends(frame& f);
    // A truth: this part of an interval is its last.
    value interval_ends();
    // Writes the states and the payments of a block. `alive` says whether the script was still running when
    // the block began; it is not valid for a script without `stop`.
    void write(const frame& f, value alive);

  private:
    value at_start(std::size_t variable, std::size_t element);
    bool is_state(std::size_t variable) const { return at_.script.tree().variables[variable].is_state; }

    const block_at_hand& at_;
    const state_slots& slots_;
    values& made_;
    frame first_;
    std::size_t elements_ = 0;
    std::map<std::pair<std::size_t, std::size_t>, value> read_;
};

}  // namespace tilewalk::language::recording
