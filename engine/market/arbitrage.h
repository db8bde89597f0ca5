// SPDX-License-Identifier: Apache-2.0
// Static arbitrage in an implied-volatility surface.
#pragma once

#include <string>
#include <vector>

#include "engine/market/surface.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

struct arbitrage {
    enum class violation { butterfly, calendar };
    violation what = violation::butterfly;
    // True for arbitrage between the quotes themselves; false if only the interpolation has it.
    bool in_quotes = false;
    double years = 0, log_moneyness = 0;
    // By call prices: the mispricing of the call as a fraction of the forward. In the interpolation, and for
    // SVI: by how much Gatheral's g is below 0 (butterfly) or total variance falls (calendar).
    double size = 0;
    location where;  // place of the quote; of the expiry if the fault lies between quotes
    std::string key_path;
    std::string message;  // the fault and the remedy, with expiry and strike as written
};

// Finds butterflies at each expiry, and halfway to the next if both ends have none, and calendar spreads
// between neighbouring expiries, in the order of time.
//
// The first search uses the quotes alone, by call prices as fractions of the forward. At an expiry, prices
// must fall and be convex in the strike, from 1 at strike 0. At the next expiry prices must be no lower;
// convexity bounds them where only one of the expiries has a quote. Such arbitrage is tradable under any
// interpolation: in_quotes is set.
//
// The second search uses the interpolation: Gatheral's g and total variance at constant moneyness, at the
// quotes, on a dense grid between them and out to 6 standard deviations. Neighbouring points with arbitrage
// make one finding, at the worst. An SVI smile counts as quoted out to 4 of its own standard deviations.
std::vector<arbitrage> find_arbitrage(const implied_surface& surface);

}  // namespace tilewalk::markets
