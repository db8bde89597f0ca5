// SPDX-License-Identifier: Apache-2.0
// An asset with its dividends, and the affine map from a martingale to its spot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/market/curve.h"
#include "engine/market/scenarios.h"
#include "engine/market/volatility.h"
#include "tilewalk/error.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::models {
class model;
}

namespace tilewalk::markets {

struct dividend {
    double years = 0;  // ex-date
    double amount = 0;
    bool proportional = false;
    friend bool operator==(const dividend&, const dividend&) = default;
};

struct asset {
    std::string name, currency;
    double spot = 0;
    curve dividend_yield = curve::flat(0);
    std::vector<dividend> dividends;  // after as_of, in order; may share ex-dates
    // True: the whole spot moves between ex-dates and drops by cash dividends on them, not below 0. False:
    // the spot minus the value of future dividends moves.
    bool falls_by_dividends = false;
    std::optional<volatility> vol;
    std::optional<scenario_volatility> scenario_vol;  // replaces vol
    std::shared_ptr<const models::model> model;       // replaces both; null: lognormal
    std::vector<model_parameter> model_parameters;    // as written in the market
    location where;
};

// Buehler's form with cash dividends: S(t) = scale(t) X(t) + shift(t), X a martingale with X(0) = 1.
struct affine {
    double scale = 0, shift = 0;
};
// Returns the left limit on an ex-date if `before_dividend`. Throws tilewalk::error (input) if the cash
// dividends are worth more than the spot.
affine spot_map(const asset& a, const curve& discount, double years, bool before_dividend = false);
// By the curves: the mean of the spot, unless falls_by_dividends and a path falls short of a dividend.
double forward(const asset& a, const curve& discount, double years);
// Drops of X on ex-dates in (from, to] for falls_by_dividends, where S = scale X, and their values today as
// fractions of the spot. Times within dates::same_time_years count as equal.
double cash_fall(const asset& a, const curve& discount, double from, double to);

}  // namespace tilewalk::markets
