// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/decide/inner_options.h"
#include "tilewalk/book.h"
#include "tilewalk/market.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::studies {

// Implements engine::depends_on.
std::vector<trade_dependence> dependence_of(const book& trades, const market& in,
                                            const inner_options& options);

}  // namespace tilewalk::studies
