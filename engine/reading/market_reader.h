// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// Files that the market names have to be in or below `inside`, if not empty. Their names are relative to
// `folder`; if that is empty, to the folder of the file that names them.
market_state read_market(const config::node& root, const std::filesystem::path& inside = {},
                         const std::filesystem::path& folder = {});
// The file itself has to be in `inside`, if not empty. `strict` demands a last line "...".
market load_market(const std::filesystem::path& file, bool strict, const std::filesystem::path& inside);

}  // namespace tilewalk::markets
