// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// The market with some numbers changed. Only the parts of it that have them are made again, and those that
// depend on these: an asset with dividends or a model on the curve of its currency. Throws tilewalk::error
// (usage) for a key that is not known or comes twice and for an amount that is no number, (input) for an
// outcome that is no market.
market_state changed(const market_state& from, std::span<const market_change> changes);

// The market some days later: times in years count from the new day. Spots, volatilities, parameters and zero
// rates stay, even if written as discount factors. Throws tilewalk::error (input) if the result is not a
// valid market.
market_state rolled(std::shared_ptr<const market_state> from, int days);

}  // namespace tilewalk::markets
