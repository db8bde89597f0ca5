// SPDX-License-Identifier: Apache-2.0
// Decisions about a trade that are made before its paths are walked: a run makes them in one market, and
// others hold them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/controls/control.h"
#include "engine/importance/search.h"
#include "engine/quasi/order.h"

namespace tilewalk::decide {

// Shifts of a trade's normals.
struct chosen_shifts {
    importance::found_shifts by;
    bool drops_control = false;  // paths with these are better off without the trade's control
};

// A part that is empty is open: a pilot decides. A part that is there may say "none".
struct decided {
    std::optional<std::optional<quasi::points>> points{};               // none: independent numbers
    std::optional<std::shared_ptr<const controls::control>> control{};  // null: none
    // The control is chosen again, with jumps if this has any, whatever it gains.
    std::shared_ptr<const controls::control> control_of_another_day{};  // null: it is not
    std::optional<std::shared_ptr<const chosen_shifts>> shifts{};       // null: none
};
using decided_by_trade = std::map<std::string, decided>;

}  // namespace tilewalk::decide
