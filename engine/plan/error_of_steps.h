// SPDX-License-Identifier: Apache-2.0
// The error that models' time steps leave in the price of a trade, as far as it is known.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/models/world.h"
#include "products/language/payoff.h"

namespace tilewalk::plan {

// Returns a bound per unit, in the trade's currency: 0 if paths are exact between dates, and so is all that
// the script asks of intervals. If a model takes steps, the bound is known for a trade in the currency of
// its only asset, on one date at most `models::step_facts::told_until_years` ahead, with a piecewise linear
// payoff: it is the bound of the options that make up the payoff. Empty for all other trades. `in` has
// recorded the trade; `blocks` leave out idle ones; `initial` has the script's states first.
std::optional<double> error_of_steps(const models::world& in, language::payoff& script,
                                     std::span<const language::block> blocks, std::span<const double> initial,
                                     const markets::market_view& market);

}  // namespace tilewalk::plan
