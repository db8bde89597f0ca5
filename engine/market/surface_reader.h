// SPDX-License-Identifier: Apache-2.0
// Reads a volatility that depends on the spot from YAML:
//     volatility: {by_strike: {2027-01-15: {80: 0.31, 100: 0.24, 120: 0.21}}}      Black volatilities
//     volatility: {by_moneyness: {0.5: {0.8: 0.31, 1: 0.24, 1.2: 0.21}}}           by strike / forward
//     volatility: {svi: {2027-01-15: {a: 0.01, b: 0.1, rho: -0.6, m: 0, sigma: 0.2}}}
//     volatility: {local: {times: [0, 1], spots: [80, 120], volatilities: [[0.3, 0.2], [0.28, 0.2]]}}
// A surface whose quotes have arbitrage is refused, unless the same mapping also says `arbitrage: repair`.
#pragma once

#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/arbitrage.h"
#include "engine/market/local_volatility.h"
#include "products/dates/date.h"

namespace tilewalk::markets {

// True for a mapping with a key that begins with a letter, such as by_strike, unlike dates or years.
bool is_surface(const config::node& value);

struct surface_reading {
    local_volatility local;
    // Arbitrage of the interpolation and, with `arbitrage: repair`, of the quotes. Where there is arbitrage,
    // the local volatility is floored or capped.
    std::vector<arbitrage> findings;
};

// `forward` returns the asset's forward by years, by which strikes and spots become moneyness.
surface_reading read_surface(const config::node& value, dates::date as_of,
                             const local_volatility::forward_function& forward);

// Reads the value of by_strike or by_moneyness without checking arbitrage.
implied_surface read_quoted_surface(const config::node& value, implied_surface::written_by form,
                                    dates::date as_of, const local_volatility::forward_function& forward);

}  // namespace tilewalk::markets
