// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/stream_names.h"

#include "products/language/payoff.h"

namespace tilewalk::models {

std::vector<program::stream_name> stream_names(const markets::market_state& of) {
    std::vector<program::stream_name> out;
    for (const auto& [name, asset] : of.assets) {
        out.emplace_back(name);
        out.emplace_back(language::stream_between(name));
    }
    for (auto at = of.currencies.begin(); at != of.currencies.end(); ++at) {
        out.emplace_back(stream_of_rates(at->first));
        for (auto other = of.currencies.begin(); other != at; ++other)
            out.emplace_back(stream_of_exchange(at->first, other->first));
    }
    return out;
}

}  // namespace tilewalk::models
