// SPDX-License-Identifier: Apache-2.0
// Everything the market file says, in the form the models ask for it. Immutable once read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// An asset or a currency that a market does not have.
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

// A quoted pair on the way from one currency to another; inverted if it is taken against its quote.
struct fx_leg {
    const fx_rate* pair = nullptr;
    bool inverted = false;
};

struct market_state {
    std::string name;  // file, for errors and the manifest
    std::string hash;  // SHA-256 of the bytes read; empty for a market inside a book
    dates::date as_of;
    std::map<std::string, curve, std::less<>> currencies;
    // By currency; where there is none, rates do not move.
    std::map<std::string, std::shared_ptr<const models::rate_model>, std::less<>> rate_models;
    std::map<std::string, std::vector<model_parameter>, std::less<>> rate_parameters;  // of those, as written
    std::map<std::string, asset, std::less<>> assets;
    std::vector<fx_rate> fx;
    // Factors are asset names, FX pairs as written ("EURUSD"), rates ("USD.rate") and own factors of models
    // ("ACME.variance", "USD.rate_2"); the lesser name comes first.
    std::map<std::pair<std::string, std::string>, double> correlations;
    bool has_all_correlations = false;  // the file says so: a trade that needs another one is refused
    struct own_factor {
        std::string of;          // an asset, or a currency's first rate
        double correlation = 0;  // with that
        bool is_constant = true;

        bool operator==(const own_factor&) const = default;
    };
    std::map<std::string, own_factor, std::less<>> own_factors;  // by their names
    // By asset name or by six letters of two currencies.
    std::map<std::string, std::map<dates::date, double>, std::less<>> fixings;
    std::vector<scenario_array> scenarios;  // each file once

    // The text that it was read from, and by market key the numbers that are others than the text says.
    std::shared_ptr<const written_market> source;
    std::map<std::string, double, std::less<>> changes;
    // The market of the day that this one was rolled from: what was seen then is known. Null: none.
    std::shared_ptr<const market_state> day_before;
    // Remarks on the assets that were read again, before their first change.
    std::map<std::string, std::vector<std::string>, std::less<>> remarks_as_read;

    // Their numbers, as back ends walk them.
    std::vector<arrays::shock_cube> scenario_cubes() const;

    // Each throws tilewalk::error (input) naming the nearest known name, without a place.
    const curve& discount_curve(const std::string& currency) const;
    const asset& find_asset(const std::string& asset_name) const;
    // The quoted pair for two currencies and whether it is inverted; null if not quoted directly.
    std::pair<const fx_rate*, bool> fx_pair(const std::string& from, const std::string& to) const;
    // The way from one unit of `from` to `to`: one quoted pair, or two through a third currency. Empty if
    // they are equal.
    std::vector<fx_leg> fx_legs(const std::string& from, const std::string& to) const;
    double fx_spot(const std::string& from,
                   const std::string& to) const;  // units of `to` for one unit of `from`
    // 1 for equal, 0 if not given; but an own factor of a model moves with others as its asset does, if not
    // given otherwise.
    double correlation(const std::string& a, const std::string& b) const;
    // Whether the market says so; an own factor follows its asset.
    bool states_correlation(const std::string& a, const std::string& b) const;
    bool has_correlations(const std::string& factor) const;  // whether any are given
};

}  // namespace tilewalk::markets
