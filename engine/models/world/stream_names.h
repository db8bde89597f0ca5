// SPDX-License-Identifier: Apache-2.0
// The names of the streams of random numbers that a market's assets, rates and exchange rates move by.
#pragma once

#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "products/program/streams.h"

namespace tilewalk::models {

// All steps of an asset take the numbers of the stream with its name. No asset has a name with a space.
inline std::string stream_of_rates(const std::string& currency) {
    return currency + ".rate";
}
// The same noise, whichever of the two is the trade's currency.
inline std::string stream_of_exchange(const std::string& one, const std::string& other) {
    return one < other ? one + " " + other : other + " " + one;
}

// Every stream that a trade in the market may draw from, assets first, in their order.
std::vector<program::stream_name> stream_names(const markets::market_state& of);

}  // namespace tilewalk::models
