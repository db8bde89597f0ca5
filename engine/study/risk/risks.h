// SPDX-License-Identifier: Apache-2.0
// The risks of a request: tails of each likely set for each portfolio, with the shares of its trades.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tilewalk/scenarios.h"

namespace tilewalk::risk {

// A portfolio in one set's scenarios with a priced trade, without trades that are not priced in all.
struct gains_of_set {
    std::vector<std::size_t> scenarios;
    std::vector<std::size_t> trades, left_out;
    std::vector<double> gains;  // by scenario of the set
    // True if gains are sums over trades, without means of parts, as a trade of the totals is left out.
    bool is_summed_anew = false;
};
gains_of_set gains_in(const scenario_results& r, const portfolio_gains& of, std::string_view set);

// By likely set, then by portfolio as in the totals. A set without scenarios has none.
std::vector<portfolio_risk> risks_of(const scenario_results& r, const scenario_list& asked);

}  // namespace tilewalk::risk
