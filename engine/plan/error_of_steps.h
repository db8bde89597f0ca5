// SPDX-License-Identifier: Apache-2.0
// The error that the time steps of models leave in the price of a trade, as far as it is known.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/models/world.h"
#include "products/language/payoff.h"

namespace tilewalk::plan {

// The error of the price of one unit, at most, in the trade's currency. 0 where paths are exact between dates
// and so is all that the script asks of intervals. Where a model steps, what its steps leave is known of
// options: the error of a trade that looks at one asset, in whose currency it is, on one date, at most
// `models::step_facts::told_until_years` ahead, and pays a broken line of its price there is that of the
// options which make up the line. None of all other trades.
//
// `in` has recorded the trade; `blocks` are those of the script that have something to do, and `initial` are
// the states of a path when it starts. The script's own states come first.
std::optional<double> error_of_steps(const models::world& in, language::payoff& script,
                                     std::span<const language::block> blocks, std::span<const double> initial,
                                     const markets::market_view& market);

}  // namespace tilewalk::plan
