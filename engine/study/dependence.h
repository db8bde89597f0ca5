// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/market.h"
#include "tilewalk/run_options.h"
#include "tilewalk/trade_facts.h"

namespace tilewalk::verbs {

// See engine::depends_on.
std::vector<trade_dependence> dependence_of(const book& trades, const market& in, const run_options& options);

}  // namespace tilewalk::verbs
