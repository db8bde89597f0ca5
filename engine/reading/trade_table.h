// SPDX-License-Identifier: Apache-2.0
// Rows of CSV, turned into the mappings they would be in YAML, for the same readers.
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
    // Faults of lines, by number of the row; its mapping has what preceded the fault.
    std::map<std::size_t, error> failures;
    bool has_end_marker = false;
    location end;
};

// Adds the rows of a checked file. Throws tilewalk::error (input) for a fault that makes rows
// indistinguishable: in the header, or an unterminated quote.
void read_trade_table(const trade_file& file, int threads, rows_of_trades& into);

}  // namespace tilewalk::books
