// SPDX-License-Identifier: Apache-2.0
// An asset with its dividends, and the affine form that turns a martingale into its spot.
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
    std::vector<dividend> dividends;  // after as_of, in order; two may share an ex-date
    // The spot as a whole moves between ex-dates and falls by cash dividends on them, to no less than 0. Else
    // the spot less the value of those to come is what moves.
    bool falls_by_dividends = false;
    std::optional<volatility> vol;
    std::optional<scenario_volatility> scenario_vol;  // in its place
    std::shared_ptr<const models::model> model;       // in the place of both; none: lognormal
    std::vector<model_parameter> model_parameters;    // of that, as the market writes them
    location where;
};

// Buehler's form of an asset with cash dividends: S(t) = scale(t) X(t) + shift(t), X a martingale with X(0)
// = 1. `before` is the left limit on an ex-date. forward = scale + shift.
struct affine {
    double scale = 0, shift = 0;
};
// Throws tilewalk::error (input) where the cash dividends are worth more than the spot.
affine spot_map(const asset& a, const curve& discount, double years, bool before_dividend = false);
// By the curves alone: the mean of the spot, unless falls_by_dividends and some path has less than a
// dividend.
double forward(const asset& a, const curve& discount, double years);
// Falls of X on ex-dates after `from` and up to `to`, times that are closer being the same, where the
// asset falls by its cash dividends: S = scale X, and their values today, as shares of the spot.
double cash_fall(const asset& a, const curve& discount, double from, double to);

}  // namespace tilewalk::markets
