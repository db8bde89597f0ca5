// SPDX-License-Identifier: Apache-2.0
// Figures that trades report beside prices: implied volatilities, and parameters that give a wanted price.
#pragma once

#include <functional>

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "tilewalk/results.h"

namespace tilewalk::answers {

using pricer = std::function<results(const std::vector<books::trade>&)>;

// Fills `reported` of each row whose trade asks for a figure. `rows` are the prices of the trades.
void add(std::vector<price_row>& rows, const std::vector<books::trade>& trades,
         const markets::market_state& in, const pricer& reprice);

}  // namespace tilewalk::answers
