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

// Stands in messages of rows that the CPU walked in a GPU's place.
inline constexpr std::string_view because_of_gpu = ", because the GPU failed: ";

// Takes the means of parts from `walked`, which is there unless the trade failed or needed no path.
// `flaw` says what operation of its script gave no number, if that is known.
price_row row_of(const books::trade& t, const planned& p, std::optional<walked_trade>& walked,
                 std::uint64_t paths, const std::string& flaw = {});

}  // namespace tilewalk::verbs
