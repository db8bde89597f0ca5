// SPDX-License-Identifier: Apache-2.0
// Differences for the usual shifts of a market's numbers, which risk systems read.
#pragma once

#include <set>
#include <string>

#include "engine/decide/inner_options.h"
#include "engine/study/session/resources.h"
#include "tilewalk/differences.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::verbs {

// trades` is the open book; see tilewalk/differences.h.
difference_results differences_as_asked(const resources& with, const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options);

struct valuations_of_differences {
    scenario_list shifts;          // in which gains are found
    greek_options by_numbers;      // of models of rates that follow quoted volatilities
    std::set<std::string> trades;  // whose derivatives by these numbers are found
};
valuations_of_differences valuations_of(const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options);

}  // namespace tilewalk::verbs
