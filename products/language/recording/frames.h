// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "products/language/recording/values.h"

namespace tilewalk::language::recording {

struct state_slots {
    std::uint32_t value = 0, alive = 0;
    std::vector<std::vector<std::uint32_t>> variables;  // by variable and element
};

// Results of checks, finite on paths without faults: by operation if told apart, else all under key 0.
using flaws = std::map<std::size_t, value>;

struct frame {
    std::vector<std::vector<value>> variables;  // by variable and element; not valid: unchanged in this block
    value paid;                                 // paid in this block so far; not valid if nothing is
    value going;                                // a truth: no `stop` in this block; not valid if certain
    language::recording::flaws flaws;
    value suspect;          // combined flaws, written with the payoff; not valid if none
    bool is_played = true;  // false if the body is only tried, as on a notice date: nothing is checked
};

class frames {
  public:
    frames(const block_at_hand& at, const state_slots& slots, values& made);

    const frame& at_first() const { return first_; }
    std::size_t elements() const { return elements_; }
    std::uint32_t value_state() const { return slots_.value; }
    value value_of(const frame& f, std::size_t variable, std::size_t element);

    // Merges two branches: `yes` becomes the frame after both.
    void join(value condition, frame& yes, const frame& no);
    // If the interval is recorded in parts, drops the effects of all parts but the last.
    void keep_until_the_interval_ends(frame& f);
    // A truth: this part of an interval is its last.
    value interval_ends();
    // Writes the states and payments of a block. `alive`: the script was running; not valid if it can't stop.
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
