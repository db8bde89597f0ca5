// SPDX-License-Identifier: Apache-2.0
// Rows of results: the figures of a trade, or why there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/decide/planned.h"
#include "engine/reading/book_state.h"
#include "engine/study/session/walks.h"
#include "tilewalk/rows.h"

namespace tilewalk::verbs {

// Part of messages of rows that the CPU walked in a GPU's place.
inline constexpr std::string_view because_of_gpu = ", because the GPU failed: ";

// Takes the part means out of `walked`, which must be set unless the trade failed or needed no path. `flaw`:
// the operation of the script that gave no number, if known.
price_row row_of(const books::trade& t, const planned& p, std::optional<walked_trade>& walked,
                 std::uint64_t paths, const std::string& flaw = {});

}  // namespace tilewalk::verbs
