// SPDX-License-Identifier: Apache-2.0
// Reads a market's section `simm:`, the static data for ISDA SIMM.
#pragma once

#include <optional>
#include <string>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

inline constexpr const char* key_of_simm = "simm";

// Empty if `root` has no such section. Its names must be assets or currencies of `of`.
std::optional<simm_data> read_simm(const config::node& root, const market_state& of);
// Throws tilewalk::error (input) at `simm:` if it lacks the asset; the message says that `trade` needs it.
const simm_data::name& simm_name(const simm_data& in, const std::string& asset, const std::string& trade);

}  // namespace tilewalk::markets
