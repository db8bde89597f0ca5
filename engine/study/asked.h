// SPDX-License-Identifier: Apache-2.0
// A request as a study takes it: refuses what does not combine, and drops what the study leaves out.
#pragma once

#include <span>
#include <vector>

#include "engine/decide/inner_options.h"
#include "tilewalk/book.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"
#include "tilewalk/market.h"

namespace tilewalk::verbs {

// Throws tilewalk::error (usage) for the first feature that the study, or another feature, does not go with.
void refuse_combinations(study s, std::span<const feature> asked);

// Returns the book without the trades' tolerances, if they are left out or mean nothing; rows say so of those
// left out. A price leaves them out beside a file of shocks in `options`, too.
book with_tolerances_of(study s, const book& trades, const run_options& options);

// Drops what the trades ask for beside their prices.
book some_of(const book& trades, const std::vector<std::size_t>& places);

struct asked_of_study {
    book trades;
    inner_options options;
};
// Throws tilewalk::error (usage) for what does not combine. Gains take the paths of one run in any case.
asked_of_study asked_of(study s, const book& trades, const inner_options& options);

study study_of(const greek_options& wanted);

}  // namespace tilewalk::verbs
