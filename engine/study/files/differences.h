// SPDX-License-Identifier: Apache-2.0
// Differences for the usual shifts of a market's numbers, for files that risk systems read.
#pragma once

#include <set>
#include <string>

#include "engine/decide/inner_options.h"
#include "engine/study/session/resources.h"
#include "tilewalk/differences.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

// Implements differences(), and session::differences, where `trades` is the open book.
difference_results differences_as_asked(const resources& with, const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options);

struct valuations_of_differences {
    scenario_list shifts;          // scenarios of the gains
    greek_options by_numbers;      // fitted numbers of rate models
    std::set<std::string> trades;  // trades with derivatives by these numbers
};
valuations_of_differences valuations_of(const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options);

}  // namespace tilewalk::studies
