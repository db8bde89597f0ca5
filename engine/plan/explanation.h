// SPDX-License-Identifier: Apache-2.0
// Explains what a price is made from, for people: the terms of a trade and what the market says of its dates.
#pragma once

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::plan {

// The terms of a trade that could be read.
std::vector<trade_term> terms_of(const books::trade& t, dates::date as_of);

// Fills in the dates that count and the numbers of the market there; the terms are known.
void add_market(const trade_program& made, const markets::market_state& market, trade_plan& into);

}  // namespace tilewalk::plan
