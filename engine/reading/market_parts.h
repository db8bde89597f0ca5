// SPDX-License-Identifier: Apache-2.0
// Readers of the parts of a market, which can be repeated after changes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"

namespace tilewalk::markets {

// Key of the quotes that a market's models were fitted to, as in `calibrate:`.
inline constexpr const char* key_of_quotes = "calibrated";

struct market_so_far {
    market_state market;
    std::filesystem::path inside, folder;
    // Names in the order of the file, for messages.
    std::vector<std::string> currency_names, rate_names, pair_names, asset_names;

    // Splits a pair of six letters; empty unless both currencies are known and differ.
    std::optional<std::pair<std::string, std::string>> split_pair(const std::string& pair) const;
};

// Replace the part of that name or add it. Callers have checked the name.
void read_currency(const config::node::member& currency, market_so_far& into);
void read_exchange_rate(const config::node::member& pair, market_so_far& into);
void read_asset(const config::node::member& asset, market_so_far& into);
void read_fixings(const config::node::member& series, market_so_far& into);
void read_correlations(const config::node& given, market_so_far& into);

// Throws for a cross unlike the product of its rates: one is mistyped. `fx` is the section of all pairs.
void check_crosses(const config::node& fx, const market_state& market);

}  // namespace tilewalk::markets
