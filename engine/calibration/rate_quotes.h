// SPDX-License-Identifier: Apache-2.0
// Quotes of options on a currency's rates:
//     swaptions: [{expiry: 1, tenor: 5, payments_per_year: 2, volatility: 0.0065, type: normal}]
//     caps: [{maturity: 5, payments_per_year: 4, strike: 0.03, price: 0.021, option: cap}]
// Payments are whole periods apart; there is no calendar of holidays.
#pragma once

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/calibration/target.h"
#include "engine/models/rates/gaussian.h"
#include "engine/numerics/black.h"
#include "tilewalk/calibration.h"

namespace tilewalk::calibrations {

// An option on one rate. `worth` is today's value of what one unit of the rate pays.
struct optionlet {
    double years = 0, forward = 0, worth = 0;
};

struct quoted_rate_option {
    bool is_swaption = true;
    analytics::right option = analytics::right::call;
    double strike = 0;
    rates::swap_terms swap;              // swaptions only
    double expiry = 0;                   // swaptions only
    std::vector<rates::period> periods;  // caps only
    std::vector<optionlet> lets;         // one for a swaption, one a period for a cap
};

enum class rate_unit { normal, black, price };

struct rate_quotes {
    std::vector<quoted_rate_option> options;
    std::vector<fitted_quote> quotes;  // parallel to options
    rate_unit unit = rate_unit::normal;
};

std::vector<std::string> rate_quote_keys();
rate_quotes read_rate_quotes(const config::node& of, const reading& in);

// price_by() takes one volatility for all optionlets. volatility_of() is 0 if `price` is the intrinsic value
// or less.
double price_by(rate_unit volatility_type, const quoted_rate_option& q, double volatility);
double volatility_of(rate_unit volatility_type, const quoted_rate_option& q, double price);

}  // namespace tilewalk::calibrations
