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
    std::vector<dividend> dividends;  // after as_of, in order; two may share an ex-date
    // True: the model moves the whole spot, which falls by each cash dividend on its ex-date, but not below
    // 0. False: the model moves the spot minus the present value of future cash dividends.
    bool falls_by_dividends = false;
    std::optional<volatility> vol;
    std::optional<scenario_volatility> scenario_vol;  // if given, replaces vol
    std::shared_ptr<const models::model> model;       // replaces vol and scenario_vol; null: lognormal
    std::vector<model_parameter> model_parameters;    // as written in the market
    location where;
};

// Buehler's form with cash dividends: S(t) = scale(t) X(t) + shift(t), X a martingale with X(0) = 1.
struct affine {
    double scale = 0, shift = 0;
};
// The map from X to the spot at `years`: on an ex-date just before the dividend if `before_dividend`,
// otherwise just after it. Throws tilewalk::error (input) if the cash dividends are worth more than the spot.
affine spot_map(const asset& a, const curve& discount, double years, bool before_dividend = false);
// The forward by the curves, which is the mean of the spot. With falls_by_dividends it is below the mean if a
// path can't pay a whole dividend.
double forward(const asset& a, const curve& discount, double years);
// For falls_by_dividends: the sum of the drops of X on ex-dates in (from, to], which is the value today of
// those cash dividends as a fraction of the spot. Times within dates::same_time_years count as equal.
double cash_fall(const asset& a, const curve& discount, double from, double to);

}  // namespace tilewalk::markets
