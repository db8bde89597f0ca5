// SPDX-License-Identifier: Apache-2.0
// The contents of a market file in the form that models need. Immutable once read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/inside.h"
#include "engine/base/text/document.h"
#include "engine/market/asset.h"
#include "engine/market/curve.h"
#include "engine/market/scenarios.h"
#include "engine/market/volatility.h"
#include "products/dates/date.h"

namespace tilewalk::models {
class rate_model;
}

namespace tilewalk::markets {

class written_market;

class unknown_in_market : public error {
  public:
    unknown_in_market(const std::string& message, std::string which)
        : error(error_kind::input, message), name(std::move(which)) {}

    std::string name;
};

struct fx_rate {
    std::string base, quote;  // one `base` costs `rate` units of `quote`: "EURUSD: 1.10"
    double rate = 0;
    std::optional<volatility> vol;
    location where;
};

// One step of a conversion between two currencies: a quoted pair, inverted if converted from quote to base.
struct fx_leg {
    const fx_rate* pair = nullptr;
    bool inverted = false;
};

struct market_state {
    std::string name;  // file name, for errors and the manifest
    std::string hash;  // SHA-256 of the bytes read; empty for a market inside a book
    dates::date as_of;
    std::map<std::string, curve, std::less<>> currencies;
    // By currency. Rates of a currency without an entry are deterministic.
    std::map<std::string, std::shared_ptr<const models::rate_model>, std::less<>> rate_models;
    std::map<std::string, std::vector<model_parameter>, std::less<>> rate_parameters;  // as the file has them
    std::map<std::string, asset, std::less<>> assets;
    std::vector<fx_rate> fx;
    // A key is two names in alphabetical order: of assets, FX pairs ("EURUSD"), rates ("USD.rate"), or
    // models' own factors ("ACME.variance", "USD.rate_2").
    std::map<std::pair<std::string, std::string>, double> correlations;
    bool has_all_correlations = false;  // if true, a trade that needs an unstated correlation fails
    // A further noise of a model, such as that of a stochastic variance.
    struct own_factor {
        std::string of;          // name of its asset, or of its currency's first rate
        double correlation = 0;  // correlation with `of`
        bool is_constant = true;

        bool operator==(const own_factor&) const = default;
    };
    std::map<std::string, own_factor, std::less<>> own_factors;  // by name
    // By asset name, or by FX pair such as "EURUSD".
    std::map<std::string, std::map<dates::date, double>, std::less<>> fixings;
    std::vector<scenario_array> scenarios;  // one entry per file

    // The market as written, and by market key the numbers that have been changed since.
    std::shared_ptr<const written_market> source;
    std::map<std::string, double, std::less<>> changes;
    // The market that this one was rolled forward from, for what was known on that earlier day; may be null.
    std::shared_ptr<const market_state> day_before;
    // By asset that has been changed: its model's remarks before the first change.
    std::map<std::string, std::vector<std::string>, std::less<>> remarks_as_read;

    std::vector<arrays::shock_cube> scenario_cubes() const;

    // Throw tilewalk::error (input) without a place in a file; the message suggests the nearest known name.
    const curve& discount_curve(const std::string& currency) const;
    const asset& find_asset(const std::string& asset_name) const;
    // The quoted pair of two currencies, and whether it is quoted as to/from. Null if neither way is quoted.
    std::pair<const fx_rate*, bool> fx_pair(const std::string& from, const std::string& to) const;
    // The quoted pairs that convert `from` to `to`: none if equal, one, or two through a third currency.
    std::vector<fx_leg> fx_legs(const std::string& from, const std::string& to) const;
    double fx_spot(const std::string& from,
                   const std::string& to) const;  // units of `to` for one unit of `from`
    // 1 for equal factors, 0 if not stated. An own factor without a stated correlation has that of its asset,
    // times its correlation with the asset.
    double correlation(const std::string& a, const std::string& b) const;
    bool states_correlation(const std::string& a, const std::string& b) const;
    bool has_correlations(const std::string& factor) const;  // if the market states a correlation of it
};

}  // namespace tilewalk::markets
