// SPDX-License-Identifier: Apache-2.0
// Names of the random number streams of a market's assets, rates and exchange rates.
#pragma once

#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "products/program/streams.h"

namespace tilewalk::models {

// An asset's stream has its name, which has no space.
inline std::string stream_of_rates(const std::string& currency) {
    return currency + ".rate";
}
// Symmetric: the stream does not depend on which is the trade's currency.
inline std::string stream_of_exchange(const std::string& one, const std::string& other) {
    return one < other ? one + " " + other : other + " " + one;
}

// All streams that trades in the market may draw from: assets first, in their order.
std::vector<program::stream_name> stream_names(const markets::market_state& of);

}  // namespace tilewalk::models
