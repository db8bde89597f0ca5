// SPDX-License-Identifier: Apache-2.0
// Results of a run: prices with everything needed to trust them, and standard sentences about the whole run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk {

struct decisions;

struct results {
    std::vector<price_row> rows;  // in the order of the book
    run_manifest manifest;
    // Sensitivities by trade, in the order of the book, then by measure. Empty unless requested.
    std::vector<greek_row> greeks;
    // Text of a policy file for the setting `policy`. Empty unless run_options::keep_policies was set.
    std::string policies;

    std::size_t failed() const;
    std::vector<currency_total> totals() const;  // failed trades are left out
    std::vector<greek_row> greek_totals() const;
};

// Decisions of the run; policies only if run_options::keep_policies was set.
decisions decisions_of(const results& of);

// Remark on a book without trades, which is most often an extract that failed.
inline constexpr const char* remark_on_no_trades = "the book has no trades";
// Returns a remark on correlations that the market does not state and the run took as 0; at least one.
std::string remark_on_correlations(const std::vector<factor_pair>& missing);

// Returns lines on failed trades with reason and place. Trades that failed alike share a line, which has the
// place of the first.
std::vector<std::string> failure_lines(const results& of);

// Returns a remark if sensitivities have no standard error because the run has too few parts: it says how
// many paths are enough. Empty for other runs.
std::string remark_on_few_parts(const results& of);

}  // namespace tilewalk
