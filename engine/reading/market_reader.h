// SPDX-License-Identifier: Apache-2.0
// Readers of whole markets.
#pragma once

#include <filesystem>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// If `inside` is a folder, the files that the market names have to be in it or below it. Their names count
// from `folder`; if that is empty, from the folder of the file that names them.
market_state read_market(const config::node& root, const std::filesystem::path& inside = {},
                         const std::filesystem::path& folder = {});
// A market's file, which itself has to be in `inside` where that is a folder. `strict`: it ends with "...".
market load_market(const std::filesystem::path& file, bool strict, const std::filesystem::path& inside);

}  // namespace tilewalk::markets
