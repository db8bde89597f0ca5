// SPDX-License-Identifier: Apache-2.0
// The amount of which basis points of a trade's price are a part.
#pragma once

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"

namespace tilewalk::plan {

// Returns the amount that the product names, by default the notional; without one, the first asset's spot.
// Throws tilewalk::error (input) if there is no asset either.
double measure_of(const books::trade& t, const markets::market_state& in);

}  // namespace tilewalk::plan
