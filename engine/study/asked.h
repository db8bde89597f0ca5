// SPDX-License-Identifier: Apache-2.0
// A request as a study takes it: what does not combine is refused, and what the study leaves out is gone.
#pragma once

#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"
#include "tilewalk/market.h"

namespace tilewalk::verbs {

// The book without tolerances of trades that the study leaves out, of which rows of these trades say so, or
// to which they mean nothing. `options` may name a file of shocks, beside which a price leaves them out, too.
book with_tolerances_of(study s, const book& trades, const run_options& options);

// The trades at these places of a book, without what they ask for beside their prices.
book some_of(const book& trades, const std::vector<std::size_t>& places);

struct asked_of_study {
    book trades;
    run_options options;
};
// Throws tilewalk::error (usage) for what does not combine. Gains are walked on the paths of one run, also
// where the file of decisions has more for some trades.
asked_of_study asked_of(study s, const book& trades, const run_options& options);

study study_of(const greek_options& wanted);

}  // namespace tilewalk::verbs
