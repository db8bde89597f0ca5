// SPDX-License-Identifier: Apache-2.0
// A part of a trade's program that depends on its world alone: sums of moves, and controls made of them.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/models/world.h"

namespace tilewalk::plan {

class controller : public models::hears_moves {
  public:
    static constexpr const char* section = "controls";

    // Called when recording begins. The script's variables are declared by then, its functions' states are
    // not.
    virtual void begins(program::recorder& into) = 0;
    // Records into the open section, which runs once, at the end of a path, after all others.
    virtual void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) = 0;
    // Returns the state to output in place of the script's value; empty to output that value.
    virtual std::optional<std::uint32_t> result() const { return std::nullopt; }
    // True if the script's value is a second output, after result().
    virtual bool keeps_value() const { return false; }
};

}  // namespace tilewalk::plan
