// SPDX-License-Identifier: Apache-2.0
// Readers of the parts of a market. Each may be run again for a part whose numbers have changed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"

namespace tilewalk::markets {

// The key under which a market keeps the quotes that its models were fitted to, as `calibrate:` had them.
inline constexpr const char* key_of_quotes = "calibrated";

// A market as far as it has been read.
struct market_so_far {
    market_state market;
    // Confinement of the files that it names, and the folder from which their names count; see read_market.
    std::filesystem::path inside, folder;
    // Names in the order of the file, for messages.
    std::vector<std::string> currency_names, rate_names, pair_names, asset_names;

    // The two currencies of a pair of six letters, if both are known and differ.
    std::optional<std::pair<std::string, std::string>> split_pair(const std::string& pair) const;
};

// Each puts its part in the place of one of that name, or adds it; whether the name is a good one was
// checked.
void read_currency(const config::node::member& currency, market_so_far& into);
void read_exchange_rate(const config::node::member& pair, market_so_far& into);
void read_asset(const config::node::member& asset, market_so_far& into);
void read_fixings(const config::node::member& series, market_so_far& into);
// All correlations at once.
void read_correlations(const config::node& given, market_so_far& into);

// Refuses a quoted cross that differs from the product of the two rates through a third currency: one of the
// three is mistyped. `fx` is the section of all pairs.
void check_crosses(const config::node& fx, const market_state& market);

}  // namespace tilewalk::markets
