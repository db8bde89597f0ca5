// SPDX-License-Identifier: Apache-2.0
// Names of the random number streams of a market's assets, rates and exchange rates.
#pragma once

#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "products/program/streams.h"

namespace tilewalk::models {

// Stream of a currency's rates. An asset's stream has the asset's name, which has no space.
inline std::string stream_of_rates(const std::string& currency) {
    return currency + ".rate";
}
// The same for (one, other) and (other, one): the stream does not depend on the trade's currency.
inline std::string stream_of_exchange(const std::string& one, const std::string& other) {
    return one < other ? one + " " + other : other + " " + one;
}

// All streams from which trades in the market may draw: assets first, in the market's order.
std::vector<program::stream_name> stream_names(const markets::market_state& of);

}  // namespace tilewalk::models
