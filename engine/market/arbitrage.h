// SPDX-License-Identifier: Apache-2.0
// Where an implied-volatility surface sells something for less than nothing.
#pragma once

#include <string>
#include <vector>

#include "engine/market/surface.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

struct arbitrage {
    enum class kind { butterfly, calendar };
    kind what = kind::butterfly;
    // By the quotes themselves, whatever lies between them; else it is the interpolation's doing.
    bool in_quotes = false;
    double years = 0, log_moneyness = 0;
    // Butterfly: in quotes by how much the middle call is too dear, as a part of the forward; elsewhere how
    // far Gatheral's g is below 0. Calendar: by how much total variance falls.
    double size = 0;
    location where;  // of the quote or, between them, of the expiry
    std::string key_path;
    std::string message;  // what is wrong and what would be right; names expiry and strike as written
};

// Butterflies at each expiry, and halfway to the next where both ends have none; calendar spreads between
// neighbouring expiries. Looked for at the quotes, on a dense grid between them and, beyond them, as far as 6
// standard deviations; neighbouring points make one finding, the worst of them. In the order of time.
//
// "In quotes" means: three neighbouring call prices that are not convex in the strike (the call at strike 0
// costs the forward), a last call that costs more than the one before, or a total variance that falls to the
// next expiry at a quote of either that lies within the quotes of the other. An SVI smile is held to be
// quoted as far as 4 standard deviations of its own volatility.
std::vector<arbitrage> find_arbitrage(const implied_surface& surface);

}  // namespace tilewalk::markets
