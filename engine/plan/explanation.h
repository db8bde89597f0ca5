// SPDX-License-Identifier: Apache-2.0
// Explains a price: the trade's terms, and what the market says on its dates.
#pragma once

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::plan {

std::vector<trade_term> terms_of(const books::trade& t, dates::date as_of);

void add_market(const trade_program& made, const markets::market_state& market, trade_plan& into);

}  // namespace tilewalk::plan
