// SPDX-License-Identifier: Apache-2.0
// Decisions about a trade that are made before its paths are walked: a run makes them in one market, and
// others hold them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/decide/controls/control.h"
#include "engine/decide/exercise/saved_policy.h"
#include "engine/decide/importance/search.h"
#include "engine/numerics/quasi/order.h"

namespace tilewalk::decide {

// Shifts of a trade's normals.
struct chosen_shifts {
    importance::found_shifts by;
    bool drops_control = false;  // paths with these are better off without the trade's control
};

// How jumps of a payoff are treated on a way back: they are smoothed, by a width that is told by the usual
// one, or held still by likelihood ratios.
struct treatment {
    double width = 0;  // 0: by likelihood ratios
    bool is_smoothing() const { return width > 0; }
    friend auto operator<=>(const treatment&, const treatment&) = default;
};

// Jumps of a trade in its sensitivities.
struct treated_jumps {
    double control = 0;                     // is taken from the payoff for likelihood ratios
    std::map<std::string, treatment> by{};  // by market key
};

// A part that is empty is open: a pilot decides. A part that is there may say "none".
struct decided {
    std::optional<bool> integrates{};                      // its jumps, see verbs/preintegration.h
    std::optional<std::optional<quasi::points>> points{};  // none: independent numbers
    std::optional<std::shared_ptr<const controls::control>> control{};  // null: none
    // In sensitivities; open: that of prices.
    std::optional<std::shared_ptr<const controls::control>> control_of_derivatives{};
    // The control is chosen again, with jumps if this has any, whatever it gains.
    std::shared_ptr<const controls::control> control_of_another_day{};  // null: it is not
    std::optional<std::shared_ptr<const chosen_shifts>> shifts{};       // null: none
    std::shared_ptr<const treated_jumps> jumps{};                       // null: open
    std::shared_ptr<const exercise::saved_policy> policy{};             // null: open
};
using decided_by_trade = std::map<std::string, decided>;
// The same with policies open.
decided_by_trade without_policies(decided_by_trade of);

}  // namespace tilewalk::decide
