// SPDX-License-Identifier: Apache-2.0
// Prices with everything needed to trust them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk {

struct decisions;

struct results {
    std::vector<price_row> rows;  // order of the book
    run_manifest manifest;
    // Sorted by trade as in the book, then measure. Empty unless sensitivities were requested.
    std::vector<greek_row> greeks;
    // A file of exercise policies for the setting `policy`. Empty unless run_options::keep_policies was set.
    std::string policies;

    std::size_t failed() const;
    std::vector<currency_total> totals() const;  // failed trades are left out
    std::vector<greek_row> greek_totals() const;
};

// Decisions of the run, with policies if run_options::keep_policies was set.
decisions decisions_of(const results& of);

}  // namespace tilewalk
