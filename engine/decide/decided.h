// SPDX-License-Identifier: Apache-2.0
// Decisions about a trade before its paths are walked. They are made in one market and kept in others.
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
    bool drops_control = false;  // shifted paths leave less variance without the control
};

// The way an adjoint treats a payoff's jumps: smoothing, over `width` usual widths, or likelihood ratios.
struct treatment {
    double width = 0;  // 0: likelihood ratios
    bool is_smoothing() const { return width > 0; }
    friend auto operator<=>(const treatment&, const treatment&) = default;
};

struct treated_jumps {
    double control = 0;                     // constant subtracted from the payoff in likelihood ratios
    std::map<std::string, treatment> by{};  // treatment by market key
};

// Decisions about a trade. A pilot decides on members that are empty or null. A set member may say "none".
struct decided {
    std::optional<bool> integrates{};                      // jumps of the payoff, see decide/preintegration.h
    std::optional<std::optional<quasi::points>> points{};  // inner empty: take independent numbers
    // Control that prices subtract; inner null: none.
    std::optional<std::shared_ptr<const controls::control>> control{};
    // Control that derivatives subtract; empty: the control of prices.
    std::optional<std::shared_ptr<const controls::control>> control_of_derivatives{};
    // If set, a pilot chooses the control again. It may jump if this one does, and is taken without a gain.
    std::shared_ptr<const controls::control> control_of_another_day{};
    std::optional<std::shared_ptr<const chosen_shifts>> shifts{};  // inner null: none
    std::shared_ptr<const treated_jumps> jumps{};                  // null: a pilot decides
    std::shared_ptr<const exercise::saved_policy> policy{};        // null: training finds one
};
using decided_by_trade = std::map<std::string, decided>;
decided_by_trade without_policies(decided_by_trade of);

}  // namespace tilewalk::decide
