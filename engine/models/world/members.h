// SPDX-License-Identifier: Apache-2.0
// A trade's assets, exchange rates and interest rates, and the sources of noise that move them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/models/world.h"
#include "engine/models/world/drivers.h"
#include "engine/models/world/stream_names.h"

namespace tilewalk::models {

struct moving_rates {
    std::size_t number = 0;  // index among the rates of the world
    std::string currency;
    const rate_model* model = nullptr;
    std::unique_ptr<rate_walk> walk;
    drivers quanto;  // drivers of the exchange rate to the trade's currency; empty for this currency itself
    std::size_t first_source = 0;  // index of the walk's first noise

    std::string stream() const { return stream_of_rates(currency); }
};

// An asset or exchange rate on a path. Level(t) = scale(t) exp(x(t) + growth(t)) + shift(t), or with x(t)
// exp(growth(t)) instead of the exponential. exp(x), or x, is a martingale up to the quanto drift. `growth`
// is log_growth() of a numeraire (rates.h): for an asset its currency's, for an exchange rate the trade
// currency's minus the foreign currency's.
struct factor {
    std::size_t number = 0;                 // index among the factors of the world
    std::string name;                       // name of the asset or currency
    std::string stream;                     // random stream: an asset's name, or a pair such as "EUR USD"
    const markets::asset* asset = nullptr;  // null for an exchange rate
    const markets::curve* carry = nullptr;  // discount curve of the asset's or foreign currency
    drivers moves_with;
    std::unique_ptr<models::walk> walk;  // null for an exchange rate
    std::vector<own_factor> others;      // further sources of noise of the model
    std::vector<std::optional<std::size_t>> sources_of_others;
    drivers quanto;    // drivers of the rate to the trade's currency; empty for this currency itself
    double start = 0;  // exchange rate today
    const moving_rates* rates = nullptr;  // of the asset's or foreign currency; null if deterministic
    bool has_cash_dividends = false;      // future cash dividends are in `shift`
    bool falls = false;                   // the level drops at each cash dividend

    bool is_asset() const { return asset != nullptr; }
    bool jumps() const { return walk && walk->jumps(); }
    coordinate moves_in() const { return walk ? walk->moves_in() : coordinate::logarithm; }
    bool is_logarithm() const { return moves_in() == coordinate::logarithm; }
    bool has_mean_of_one() const { return walk && walk->is_martingale() && quanto.empty() && !falls; }
};

// A noise of the world: of a factor, of an own factor of its model that correlations name, or of rates.
struct source {
    const factor* of = nullptr;  // null for a noise of rates
    bool is_own = false;
    const drivers* quanto = nullptr;
    drivers moves_with;
    std::string stream;
};

class members {
  public:
    // Throws tilewalk::error (input) if the market lacks what the trade needs.
    explicit members(const world_needs& from);
    members(const members&) = delete;
    members& operator=(const members&) = delete;

    const markets::market_view& market() const { return market_; }
    const std::string& trade_currency() const { return trade_currency_; }
    const markets::curve& domestic() const { return domestic_; }  // discount curve of the trade's currency
    const moving_rates* domestic_rates() const { return find_rates(trade_currency_); }

    std::span<const factor> factors() const { return factors_; }
    const std::deque<moving_rates>& rates() const { return rates_; }
    std::span<const source> sources() const { return sources_; }  // the noises of factors first

    // Throw tilewalk::error (internal) for a name that world_needs did not have.
    const factor& find_asset(const std::string& name) const { return find(name, true); }
    const factor& find_currency(const std::string& name) const { return find(name, false); }
    // Null if the rates of the currency are deterministic.
    const moving_rates* find_rates(const std::string& currency) const;

    // Scale and shift of Level(t) = scale(t) X(t) + shift(t), with X a martingale up to the quanto drift.
    markets::affine map_of(const factor& f, double years, bool before_dividend = false) const;

    double covariance(const drivers& a, const drivers& b, double from, double to) const {
        return correlations_.covariance(a, b, from, to);
    }
    double variance(const factor& f, double from, double to) const {
        return covariance(f.moves_with, f.moves_with, from, to);
    }

  private:
    const factor& find(const std::string& name, bool is_asset) const;
    const moving_rates* add_rates(const std::string& currency);
    void add_asset(const std::string& name);
    void add_currency(const std::string& name);
    void add_factor(factor f);
    void add_sources();
    void look_up_correlations();
    drivers drivers_of_rate(const std::string& foreign, const std::string& why) const;

    const markets::market_view market_;
    std::string trade_currency_;
    const markets::curve& domestic_;
    const markets::volatility one_ = markets::volatility::flat(1);
    std::vector<factor> factors_;
    std::deque<moving_rates> rates_;  // a deque, since factors hold pointers to its elements
    std::vector<source> sources_;
    driver_correlations correlations_;
};

}  // namespace tilewalk::models
