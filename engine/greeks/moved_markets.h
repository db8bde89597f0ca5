// SPDX-License-Identifier: Apache-2.0
// Moved markets: a market on both sides of some of its numbers, for differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewalk/market.h"

namespace tilewalk::greeks {

// The markets in which numbers are larger and smaller, all together, by at most so much: by less where no
// market is that far, and on one side alone where the other has none.
struct moved_markets {
    std::optional<market> up, down;  // both or none
    double distance = 0;             // between the two
    bool is_central = false;

    moved_markets(const market& in, const std::vector<std::string>& keys, double by);
    bool are_there() const { return distance > 0; }
};

}  // namespace tilewalk::greeks
