// SPDX-License-Identifier: Apache-2.0
// Readers of the parts of a market. Each can run again after some of its numbers have changed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"

namespace tilewalk::markets {

// The market's key for the quotes that its models were fitted to, in the form of `calibrate:`.
inline constexpr const char* key_of_quotes = "calibrated";

struct market_so_far {
    market_state market;
    std::filesystem::path inside, folder;
    // Names in the order of the file, for messages.
    std::vector<std::string> currency_names, rate_names, pair_names, asset_names;

    // Splits "EURUSD" into its currencies; empty unless the market has both and they differ.
    std::optional<std::pair<std::string, std::string>> split_pair(const std::string& pair) const;
};

// Each adds a part to `into`, or replaces the part of the same name. The caller has checked the name.
void read_currency(const config::node::member& currency, market_so_far& into);
void read_exchange_rate(const config::node::member& pair, market_so_far& into);
void read_asset(const config::node::member& asset, market_so_far& into);
void read_fixings(const config::node::member& series, market_so_far& into);
void read_correlations(const config::node& given, market_so_far& into);

// Throws for a cross rate unlike the product of the rates it crosses: one is mistyped. `fx` has all pairs.
void check_crosses(const config::node& fx, const market_state& market);

}  // namespace tilewalk::markets
