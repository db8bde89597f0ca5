// SPDX-License-Identifier: Apache-2.0
// Numbers of a market by their keys, and changes of them.
#pragma once

#include <string>

namespace tilewalk {

// A number of the market. Keys are such as "ACME.spot" or "INDEX.volatility@0.5y,6000".
struct market_number {
    std::string key;
    double value = 0;
    std::string unit;  // unit of the number and of a shift
};

struct market_change {
    enum class way { shift, set };

    std::string key;
    double amount = 0;
    way is = way::shift;
};

}  // namespace tilewalk
