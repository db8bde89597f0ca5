// SPDX-License-Identifier: Apache-2.0
// Arbitrage in an implied-volatility surface: places where it sells something for less than nothing.
#pragma once

#include <string>
#include <vector>

#include "engine/market/surface.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

struct arbitrage {
    enum class kind { butterfly, calendar };
    kind what = kind::butterfly;
    // True for arbitrage between quotes themselves; false where the interpolation makes it.
    bool in_quotes = false;
    double years = 0, log_moneyness = 0;
    // In quotes, by how much the call is too dear or too cheap, as a part of the forward. Elsewhere, and for
    // SVI: of a butterfly how far Gatheral's g is below 0, of a calendar by how much total variance falls.
    double size = 0;
    location where;  // of the quote or, between them, of the expiry
    std::string key_path;
    std::string message;  // what is wrong and what would be right; names expiry and strike as written
};

// Butterflies at each expiry, and halfway to the next where both ends have none; calendar spreads between
// neighbouring expiries. In the order of time.
//
// First in the quotes alone, by the prices of their calls as parts of the forward: at an expiry they fall and
// are convex in the strike (at strike 0 the call is worth the forward); at the next expiry they are no lower,
// within what convexity says about the strikes between. Whoever finds otherwise can trade it, whatever
// the interpolation, and the finding says so by in_quotes.
//
// Then in the interpolation, by Gatheral's g and by total variance at constant moneyness, at the quotes, on a
// dense grid between them and beyond them as far as 6 standard deviations; neighbouring points make one
// finding, the worst of them. Here an SVI smile counts as quoted as far as 4 standard deviations of its own
// volatility.
std::vector<arbitrage> find_arbitrage(const implied_surface& surface);

}  // namespace tilewalk::markets
