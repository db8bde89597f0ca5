// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// Relative names of further files start from `folder`; if empty, from the folder of the market's file. If
// `inside` is not empty, these files must be in or below it.
market_state read_market(const config::node& root, const std::filesystem::path& inside = {},
                         const std::filesystem::path& folder = {});
// If `inside` is not empty, `file` must be in or below it. `strict` demands a last line "...".
market load_market(const std::filesystem::path& file, bool strict, const std::filesystem::path& inside);

}  // namespace tilewalk::markets
