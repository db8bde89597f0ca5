// SPDX-License-Identifier: Apache-2.0
// A trade's program with one more section: it reads every asset's price at each stop and draws no number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/trade_program.h"

namespace tilewalk::plan {

struct watched_program {
    trade_program made;  // its `assets` are recorded
    std::size_t section = 0;
    // By asset: the state that holds its price, in its own currency.
    std::vector<std::uint32_t> seen{};
};

// Plans as plan_trade does, in double and without using rights.
watched_program plan_watched(const books::trade& t, const markets::market_view& market,
                             const poll& often = {});

}  // namespace tilewalk::plan
