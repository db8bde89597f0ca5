// SPDX-License-Identifier: Apache-2.0
// The amount that basis points of a trade's price are of.
#pragma once

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"

namespace tilewalk::plan {

// The amount that the product says, the trade's notional, or the spot of its first asset. Throws
// tilewalk::error (input) where it has neither.
double measure_of(const books::trade& t, const markets::market_state& in);

}  // namespace tilewalk::plan
