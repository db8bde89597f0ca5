// SPDX-License-Identifier: Apache-2.0
// A market with some of its numbers moved up, and moved down, for differences.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/market.h"

namespace tilewalk::greeks {

// Markets with all these numbers moved together, up and down, by at most `by`: by less if the market would be
// invalid, and on one side only if none is valid on the other.
struct moved_markets {
    std::optional<market> up, down;  // both set or both empty
    double distance = 0;             // from `down` to `up`
    bool is_central = false;

    moved_markets(const market& in, const std::vector<std::string>& keys, double by);
    bool are_there() const { return distance > 0; }
};

struct moved_twice {
    moved_markets wide, narrow;

    moved_twice(const market& in, const std::vector<std::string>& keys, double by)
        : wide(in, keys, by), narrow(in, keys, by / 2) {}
    bool are_there() const { return wide.are_there() && narrow.are_there(); }
    // Returns the error of `far`, found with twice the move of `near`: its error is four times as large, or
    // twice if one-sided.
    double bias(double far, double near) const {
        return std::abs(far - near) * (wide.is_central && narrow.is_central ? 4.0 / 3 : 2.0);
    }
};

}  // namespace tilewalk::greeks
