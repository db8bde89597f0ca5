// SPDX-License-Identifier: Apache-2.0
// A trade's program with a section more that looks at every asset whenever the path stops, for people who
// want to see paths. It draws no number, so the paths are those of the trade's own program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/trade_program.h"

namespace tilewalk::plan {

struct watched_program {
    trade_program made;  // its assets are those watched
    // Runs after everything else of each step.
    std::size_t section = 0;
    // States that hold what was seen: the price of each asset, in its own currency.
    std::vector<std::uint32_t> seen{};
};

// As plan_trade does, in double; nobody uses a right.
watched_program plan_watched(const books::trade& t, const markets::market_view& market,
                             const poll& often = {});

}  // namespace tilewalk::plan
