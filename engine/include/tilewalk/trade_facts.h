// SPDX-License-Identifier: Apache-2.0
// Facts about a trade that are known before a path is walked.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/market_numbers.h"

namespace tilewalk {

// A trade that can't be priced.
struct trade_problem {
    std::string trade;
    std::string failure;
    location where;
};

// Numbers of the market that the price of a trade depends on.
struct trade_dependence {
    std::string trade;
    std::vector<market_number> numbers;  // in the order of the market's file
    std::string failure;                 // why planning failed; may be empty
    location where;
};

}  // namespace tilewalk
