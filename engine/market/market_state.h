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
    std::string base, quote;  // 1 base = rate quote, "EURUSD: 1.10"
    double rate = 0;
    std::optional<volatility> vol;
    location where;
};

// A quoted pair on the way between two currencies; inverted if used against its quote.
struct fx_leg {
    const fx_rate* pair = nullptr;
    bool inverted = false;
};

struct market_state {
    std::string name;  // file name, for errors and the manifest
    std::string hash;  // SHA-256 of the bytes read; empty for a market inside a book
    dates::date as_of;
    std::map<std::string, curve, std::less<>> currencies;
    // By currency; without an entry rates are deterministic.
    std::map<std::string, std::shared_ptr<const models::rate_model>, std::less<>> rate_models;
    std::map<std::string, std::vector<model_parameter>, std::less<>> rate_parameters;  // as written
    std::map<std::string, asset, std::less<>> assets;
    std::vector<fx_rate> fx;
    // Keys are asset names, FX pairs ("EURUSD"), rates ("USD.rate") and models' own factors ("ACME.variance",
    // "USD.rate_2"), the lesser name first.
    std::map<std::pair<std::string, std::string>, double> correlations;
    bool has_all_correlations = false;  // true: trades that need a missing correlation fail
    struct own_factor {
        std::string of;          // an asset or a currency's first rate
        double correlation = 0;  // correlation with `of`
        bool is_constant = true;

        bool operator==(const own_factor&) const = default;
    };
    std::map<std::string, own_factor, std::less<>> own_factors;  // by name
    // By asset name or the six letters of two currencies.
    std::map<std::string, std::map<dates::date, double>, std::less<>> fixings;
    std::vector<scenario_array> scenarios;  // unique files

    // The text of the market, and the numbers that differ from it, by market key.
    std::shared_ptr<const written_market> source;
    std::map<std::string, double, std::less<>> changes;
    // The market of the previous day if this one was rolled from it, for what was known then; may be null.
    std::shared_ptr<const market_state> day_before;
    // Remarks on changed assets, from before their first change.
    std::map<std::string, std::vector<std::string>, std::less<>> remarks_as_read;

    std::vector<arrays::shock_cube> scenario_cubes() const;

    // Throw tilewalk::error (input) without a place, naming the nearest known name.
    const curve& discount_curve(const std::string& currency) const;
    const asset& find_asset(const std::string& asset_name) const;
    // The quoted pair of two currencies and whether it is inverted; null if not quoted directly.
    std::pair<const fx_rate*, bool> fx_pair(const std::string& from, const std::string& to) const;
    // The quoted pairs from `from` to `to`: none if equal, one, or two through a third currency.
    std::vector<fx_leg> fx_legs(const std::string& from, const std::string& to) const;
    double fx_spot(const std::string& from,
                   const std::string& to) const;  // units of `to` for one unit of `from`
    // 1 for equal factors, 0 if not stated. An own factor without one uses its asset's.
    double correlation(const std::string& a, const std::string& b) const;
    bool states_correlation(const std::string& a, const std::string& b) const;
    bool has_correlations(const std::string& factor) const;  // true if the market states any
};

}  // namespace tilewalk::markets
