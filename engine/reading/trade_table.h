// SPDX-License-Identifier: Apache-2.0
// Trades as rows of CSV: each row becomes the mapping that it would be in YAML, with the places of its cells,
// so that whatever reads and refuses trades reads and refuses rows.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/book_state.h"
#include "tilewalk/error.h"

namespace tilewalk::books {

struct rows_of_trades {
    std::vector<config::node> rows;
    // The fault of the line of a row, by its number; its mapping has what stood before the fault.
    std::map<std::size_t, error> failures;
    bool has_end_marker = false;
    location end;
};

// Adds the rows of a file whose bytes were checked. Throws tilewalk::error (input) for what leaves no rows to
// tell apart: the header, or a quote without end.
void read_trade_table(const trade_file& file, int threads, rows_of_trades& into);

}  // namespace tilewalk::books
