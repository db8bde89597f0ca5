// SPDX-License-Identifier: Apache-2.0
// Rows of results: a trade's figures, or the reason why there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/decide/planned.h"
#include "engine/reading/book_state.h"
#include "engine/study/session/walks.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

// Part of the message in a row that the CPU walked because a GPU failed.
inline constexpr std::string_view because_of_gpu = ", because the GPU failed: ";

// Moves the part means out of `walked`, which may be empty only if the trade failed or walks no paths. `flaw`
// names the operation of the script that gave no finite number, if known.
price_row row_of(const books::trade& t, const planned& p, std::optional<walked_trade>& walked,
                 std::uint64_t paths, const std::string& flaw = {});

}  // namespace tilewalk::studies
