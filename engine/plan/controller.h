// SPDX-License-Identifier: Apache-2.0
// The part of a trade's program that depends on its world alone: sums of moves, and controls made of them.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/models/world.h"

namespace tilewalk::plan {

class controller : public models::hears_moves {
  public:
    static constexpr const char* section = "controls";

    // Called when a recording begins. The script's variables are declared by then, states of its functions
    // are not.
    virtual void begins(program::recorder& into) = 0;
    // Records into the open section, which runs once, after all others and after the moves.
    virtual void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) = 0;
    // State that holds a path's result in place of the script's value; empty if the value stays the result.
    virtual std::optional<std::uint32_t> result() const { return std::nullopt; }
    // True if the script's value is then an output, too, behind the result.
    virtual bool keeps_value() const { return false; }
};

}  // namespace tilewalk::plan
