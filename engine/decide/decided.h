// SPDX-License-Identifier: Apache-2.0
// Decisions about a trade before its paths are walked, made in one market and kept in others.
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

struct chosen_shifts {
    importance::found_shifts by;
    bool drops_control = false;  // shifted paths are better off without the trade's control
};

// A way back smooths a payoff's jumps, by a multiple of the usual width, or uses likelihood ratios.
struct treatment {
    double width = 0;  // 0: likelihood ratios
    bool is_smoothing() const { return width > 0; }
    friend auto operator<=>(const treatment&, const treatment&) = default;
};

struct treated_jumps {
    double control = 0;                     // subtracted from the payoff for likelihood ratios
    std::map<std::string, treatment> by{};  // by market key
};

// Decisions about a trade. An empty member is open: a pilot decides. A member that is set may say "none".
struct decided {
    std::optional<bool> integrates{};                      // its jumps, see decide/preintegration.h
    std::optional<std::optional<quasi::points>> points{};  // inner empty: independent numbers
    std::optional<std::shared_ptr<const controls::control>> control{};  // inner null: none
    // For sensitivities; empty: the control of prices.
    std::optional<std::shared_ptr<const controls::control>> control_of_derivatives{};
    // If set, the control is chosen again, with jumps if this one has any, even if they gain nothing.
    std::shared_ptr<const controls::control> control_of_another_day{};
    std::optional<std::shared_ptr<const chosen_shifts>> shifts{};  // inner null: none
    std::shared_ptr<const treated_jumps> jumps{};                  // null: open
    std::shared_ptr<const exercise::saved_policy> policy{};        // null: open
};
using decided_by_trade = std::map<std::string, decided>;
decided_by_trade without_policies(decided_by_trade of);

}  // namespace tilewalk::decide
