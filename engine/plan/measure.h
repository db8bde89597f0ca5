// SPDX-License-Identifier: Apache-2.0
// The amount to which basis points of a trade's price refer.
#pragma once

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"

namespace tilewalk::plan {

// Returns the amount that the product names (by default the notional), else the spot of the first asset.
// Throws tilewalk::error (input) if there is neither.
double measure_of(const books::trade& t, const markets::market_state& in);

}  // namespace tilewalk::plan
