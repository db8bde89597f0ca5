// SPDX-License-Identifier: Apache-2.0
// Turns rows of CSV into the mappings that YAML would give, so that the same readers read both.
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
    // Faults by number of the row. The mapping of a faulty row has the cells read before the fault.
    std::map<std::size_t, error> failures;
    bool has_end_marker = false;
    location end;
};

// Adds the rows of a file that has been checked. Throws tilewalk::error (input) for a fault of the header,
// and for an unterminated quote, after which rows can't be told apart.
void read_trade_table(const trade_file& file, int threads, rows_of_trades& into);

}  // namespace tilewalk::books
