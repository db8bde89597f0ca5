// SPDX-License-Identifier: Apache-2.0
// The risks of a request: tails of each portfolio in each likely set of scenarios, with its trades' shares.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tilewalk/scenarios.h"

namespace tilewalk::risk {

// A portfolio in the scenarios of a set in which any trade is priced, without trades that fail in some of
// them.
struct gains_of_set {
    std::vector<std::size_t> scenarios;
    std::vector<std::size_t> trades, left_out;
    std::vector<double> gains;  // by scenario of the set
    // True if gains are summed over trades and have no part means, as a trade of the total is left out.
    bool is_summed_anew = false;
};
gains_of_set gains_in(const scenario_results& r, const portfolio_gains& of, std::string_view set);

// Returns risks by likely set, then by portfolio as in the totals. Sets without scenarios have none.
std::vector<portfolio_risk> risks_of(const scenario_results& r, const scenario_list& asked);

}  // namespace tilewalk::risk
