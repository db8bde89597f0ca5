// SPDX-License-Identifier: Apache-2.0
// Moved markets: a market on both sides of some of its numbers, for differences.
#pragma once

#include <cmath>
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

// Markets for a difference of prices, and nearer ones that show its bias.
struct moved_twice {
    moved_markets wide, narrow;

    moved_twice(const market& in, const std::vector<std::string>& keys, double by)
        : wide(in, keys, by), narrow(in, keys, by / 2) {}
    bool are_there() const { return wide.are_there() && narrow.are_there(); }
    // For twice the move the error of a central difference is four times as large, that of a difference on
    // one side twice.
    double bias(double far, double near) const {
        return std::abs(far - near) * (wide.is_central && narrow.is_central ? 4.0 / 3 : 2.0);
    }
};

}  // namespace tilewalk::greeks
