// SPDX-License-Identifier: Apache-2.0
// The static data that ISDA SIMM asks for beside numbers of a market: `simm:`.
#pragma once

#include <optional>
#include <string>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/simm_data.h"

namespace tilewalk::markets {

// The key under which a market has them.
inline constexpr const char* key_of_simm = "simm";

// None where the market's root has none. Names are those of `of`, whose assets and currencies are read.
std::optional<simm_data> read_simm(const config::node& root, const market_state& of);
// The name of an asset; throws tilewalk::error (input) at the place of `simm:` if it has none, telling who
// asks for it.
const simm_data::name& simm_name(const simm_data& in, const std::string& asset, const std::string& trade);

}  // namespace tilewalk::markets
