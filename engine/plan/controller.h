// SPDX-License-Identifier: Apache-2.0
// The part of a trade's program that depends on its world alone, sums of moves and controls that are made of
// them: a controller adds it as the trade is recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/models/world.h"

namespace tilewalk::plan {

class controller : public models::hears_moves {
  public:
    // The name of the section that ends a path.
    static constexpr const char* section = "controls";

    // A recording begins; those before it count for nothing. The script's variables are declared, the states
    // that its functions keep are not yet.
    virtual void begins(program::recorder& into) = 0;
    // A section that runs once, after all others, is open. The moves have been heard.
    virtual void ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) = 0;
    // The state that holds the result of a path in the place of the script's value.
    virtual std::optional<std::uint32_t> result() const { return std::nullopt; }
    // Whether that value is an output then, too, behind the result.
    virtual bool keeps_value() const { return false; }
};

}  // namespace tilewalk::plan
