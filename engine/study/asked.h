// SPDX-License-Identifier: Apache-2.0
// Checks a request for a study: refuses features that do not combine, and leaves out some.
#pragma once

#include <span>
#include <vector>

#include "engine/decide/inner_options.h"
#include "tilewalk/book.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"
#include "tilewalk/market.h"

namespace tilewalk::studies {

// Throws tilewalk::error (usage) for the first feature that the study, or another feature, excludes.
void refuse_combinations(study s, std::span<const feature> asked);

// Returns the book without the trades' own tolerances if the study, or a file of shocks, leaves them out or
// makes them meaningless. Rows say so of those left out.
book with_tolerances_of(study s, const book& trades, const run_options& options);

// Returns the trades at these places, without the figures that they report beside prices.
book some_of(const book& trades, const std::vector<std::size_t>& places);

struct asked_of_study {
    book trades;
    inner_options options;
};
// Throws tilewalk::error (usage) for what does not combine. Gains take the paths of one run even if decided
// paths differ by trade.
asked_of_study asked_of(study s, const book& trades, const inner_options& options);

study study_of(const greek_options& wanted);

}  // namespace tilewalk::studies
