// SPDX-License-Identifier: Apache-2.0
// Reads a volatility that depends on the spot from YAML:
//     volatility: {by_strike: {2027-01-15: {80: 0.31, 100: 0.24, 120: 0.21}}}      Black volatilities
//     volatility: {by_moneyness: {0.5: {0.8: 0.31, 1: 0.24, 1.2: 0.21}}}           by strike / forward
//     volatility: {svi: {2027-01-15: {a: 0.01, b: 0.1, rho: -0.6, m: 0, sigma: 0.2}}}
//     volatility: {local: {times: [0, 1], spots: [80, 120], volatilities: [[0.3, 0.2], [0.28, 0.2]]}}
// An implied one is refused if its quotes have arbitrage, unless it also says `arbitrage: repair`.
#pragma once

#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/arbitrage.h"
#include "engine/market/local_volatility.h"
#include "products/dates/date.h"

namespace tilewalk::markets {

// Whether it is meant as one of these: a mapping with a key that is no time.
bool is_surface(const config::node& value);

struct surface_reading {
    local_volatility local;
    // Arbitrage that is left: that of the interpolation, and with `arbitrage: repair` that of the quotes,
    // too. The local volatility is bounded there.
    std::vector<arbitrage> findings;
};

// `forward` is the asset's, by years: it makes moneyness of strikes and of spots.
surface_reading read_surface(const config::node& value, dates::date as_of,
                             const local_volatility::forward_function& forward);

// Quotes alone, without a judgement of their arbitrage: what stands behind by_strike or by_moneyness.
implied_surface read_quoted_surface(const config::node& value, implied_surface::written_by form,
                                    dates::date as_of, const local_volatility::forward_function& forward);

}  // namespace tilewalk::markets
