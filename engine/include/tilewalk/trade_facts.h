// SPDX-License-Identifier: Apache-2.0
// Facts about a trade that are known before a path is walked.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/market_numbers.h"

namespace tilewalk {

struct trade_problem {
    std::string trade;
    std::string failure;
    location where;
};

struct trade_dependence {
    std::string trade;
    std::vector<market_number> numbers;  // order of the market's file
    std::string failure;                 // why planning failed; may be empty
    location where;
};

}  // namespace tilewalk
