// SPDX-License-Identifier: Apache-2.0
// Quotes of European options on an asset, as a list or by expiry and strike:
//     quotes: [{expiry: 2027-01-15, strike: 100, volatility: 0.22, weight: 2}, ...]
//     quotes: [{expiry: 2027-01-15, strike: 90, option: put, price: 2.31}]
//     by_strike: {2027-01-15: {90: 0.24, 100: 0.22, 110: 0.21}}
#pragma once

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/calibration/target.h"
#include "engine/market/asset.h"
#include "engine/numerics/black.h"
#include "tilewalk/calibration.h"

namespace tilewalk::calibrations {

// A quoted option on the asset: spot = scale X + shift (quoted_expiry::spot), X a martingale, X(0) = 1.
struct quoted_option {
    std::size_t expiry = 0;  // index
    double strike = 0;
    analytics::right option =
        analytics::right::call;  // type as quoted; for a volatility the out-of-the-money one
    double volatility = 0;       // Black, on the forward
};
struct quoted_expiry {
    double years = 0, forward = 0, discount = 0;
    markets::affine spot;
    std::string written;
};

struct option_quotes {
    std::vector<quoted_expiry> expiries;  // sorted
    std::vector<quoted_option> options;   // sorted by expiry, then strike
    std::vector<fitted_quote> quotes;     // parallel to options
    bool by_price = false;

    double log_moneyness(const quoted_option& q) const;
};

// Keys that a model's mapping under `calibrate:` may have for its quotes, besides the model's own keys.
std::vector<std::string> option_quote_keys();
option_quotes read_option_quotes(const config::node& of, const reading& in);

}  // namespace tilewalk::calibrations
