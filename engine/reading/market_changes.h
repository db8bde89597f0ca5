// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// Returns the market with some numbers changed. Only parts with changed numbers are read again, and assets
// that depend on a changed curve (by dividends or a model). Throws tilewalk::error: (usage) for a key that is
// unknown or comes twice, and for an amount that is no number; (input) if the result is not a valid market.
market_state changed(const market_state& from, std::span<const market_change> changes);

// Returns the market `days` later: times in years count from the new day. Spots, volatilities, parameters and
// zero rates keep their values; discount factors change to keep their zero rates. Throws tilewalk::error
// (input) if the result is not a valid market.
market_state rolled(std::shared_ptr<const market_state> from, int days);

}  // namespace tilewalk::markets
