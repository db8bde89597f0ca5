// SPDX-License-Identifier: Apache-2.0
// Prices with everything needed to trust them, and remarks on a whole run in the words that all who tell of
// runs use.
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

// The sentence about a book without trades, which is most often an extract that failed.
inline constexpr const char* remark_on_no_trades = "the book has no trades";
// The sentence about correlations that were taken as 0 because the market states none: at least one.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

// The trades that failed with the reason, and the place of the first; many that fail alike are one line.
std::vector<std::string> failure_lines(const results& of);

// The sentence where sensitivities have no standard error because the run has too few parts, which says how
// many paths would do; empty of other runs.
std::string remark_on_few_parts(const results& of);

}  // namespace tilewalk
