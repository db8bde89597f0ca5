// SPDX-License-Identifier: Apache-2.0
// Error that the time steps of models leave in the price of a trade, as far as it is known.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/models/world.h"
#include "products/language/payoff.h"

namespace tilewalk::plan {

// Returns a bound per unit, in the trade's currency: 0 if paths are exact between dates, as is all that the
// script asks of intervals. If a model steps, the error is known for a trade that looks at one asset, in
// whose currency it is, on one date, at most `models::step_facts::told_until_years` ahead, and pays a broken
// line of its price: that of the options which make up the line. Empty for other trades.
// in` has recorded the trade; `blocks` leave out idle ones; `initial` has the script's states first.
std::optional<double> error_of_steps(const models::world& in, language::payoff& script,
                                     std::span<const language::block> blocks, std::span<const double> initial,
                                     const markets::market_view& market);

}  // namespace tilewalk::plan
