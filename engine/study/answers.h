// SPDX-License-Identifier: Apache-2.0
// Figures that trades ask for beside their prices: the volatility that a price implies, and the value of a
// parameter at which a trade has a wanted price.
#pragma once

#include <functional>

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "tilewalk/results.h"

namespace tilewalk::answers {

// Prices trades with the random numbers of the run.
using pricer = std::function<results(const std::vector<books::trade>&)>;

// Fills `reported` of each row whose trade asks for something. `rows` are the prices of the trades.
void add(std::vector<price_row>& rows, const std::vector<books::trade>& trades,
         const markets::market_state& in, const pricer& reprice);

}  // namespace tilewalk::answers
