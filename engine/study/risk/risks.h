// SPDX-License-Identifier: Apache-2.0
// The risks of a request: tails of each likely set for each portfolio, with the shares of its trades.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tilewalk/scenarios.h"

namespace tilewalk::risk {

// A portfolio in the scenarios of one set, but for those in which no trade is priced, without the trades that
// are not priced in all of them.
struct gains_of_set {
    std::vector<std::size_t> scenarios;
    std::vector<std::size_t> trades, left_out;
    std::vector<double> gains;  // by scenario of the set
    // True if a trade is left out that counts in the totals of scenarios in which it is priced: the gains are
    // then sums over trades, and no means of parts belong to them.
    bool is_summed_anew = false;
};
gains_of_set gains_in(const scenario_results& r, const portfolio_gains& of, std::string_view set);

// By likely set, and in each by portfolio as the totals have them. A set without a scenario has none.
std::vector<portfolio_risk> risks_of(const scenario_results& r, const scenario_list& asked);

}  // namespace tilewalk::risk
