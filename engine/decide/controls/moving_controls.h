// SPDX-License-Identifier: Apache-2.0
// The controls of trades in markets about one, for derivatives of prices. A payoff moves with the market, and
// so does a control that is to leave little of its derivative: its strikes, say, with the forward price.
// However it moves, its mean is known in each market, so that no derivative is biased. How it moves is found
// once, in the unmoved market, by a pilot.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/controls/control.h"
#include "engine/decide/controls/controls.h"
#include "engine/plan/moved_markets.h"
#include "engine/plan/trade_program.h"
#include "engine/walk/kept/work.h"
#include "tilewalk/market.h"

namespace tilewalk::verbs {

class moving_controls {
  public:
    // `work`, where there is some, keeps how controls move.
    moving_controls(const market& here, const pilot_of_controls& by, const kept::work* work)
        : here_(here), by_(by), work_(work) {}

    // A trade of this market with the control of its plan. Both outlive this.
    void add(const books::trade& t, const planned& p);
    // The control of the unmoved market; null where the trade has none.
    std::shared_ptr<const controls::control> here(const std::string& trade) const {
        const of_trade* const of = find(trade);
        return of == nullptr ? nullptr : of->control;
    }
    // The mean of what is subtracted there.
    double mean_here(const std::string& trade) const {
        const of_trade* const of = find(trade);
        return of == nullptr ? 0 : of->mean;
    }
    // Finds how the control of a trade moves with numbers of the market, where that is not known: one pilot
    // for all of them costs less than one for each.
    void find_drifts(const std::string& trade, std::span<const std::string> keys);
    // The control in a market in which any numbers differ from this one. None where the trade has none.
    std::optional<controls::control> in(const std::string& trade, const market& other);

  private:
    struct of_trade {
        const books::trade* trade;
        std::shared_ptr<const controls::control> control;
        double mean = 0;                                  // of what is subtracted
        std::shared_ptr<const ready_rights> rights;       // keeps the policy
        kept::fingerprint known_as;                       // with a key: how it moves with that
        std::mutex lock{};                                // of what follows
        std::map<std::string, controls::drift> drifts{};  // by key
    };
    struct markets_about {
        std::once_flag once{};
        std::optional<greeks::moved_markets> near{}, far{};
    };

    of_trade* find(const std::string& trade) const;
    const markets_about& about(const std::string& key);
    controls::drift drift_of(const of_trade& of, const sums_on_pilot& pilot,
                             const controls::pilot_paths& here, const plan::trade_numbers& numbers,
                             const std::string& key);
    void find_drifts(of_trade& of, std::span<const std::string> keys);
    std::optional<controls::drift> known_drift(const of_trade& of, const std::string& key) const;

    const market& here_;
    const pilot_of_controls by_;
    const kept::work* const work_;
    mutable std::mutex lock_;  // of what follows
    std::map<std::string, std::unique_ptr<of_trade>> trades_;
    std::map<std::string, std::unique_ptr<markets_about>> about_;  // by key
};

}  // namespace tilewalk::verbs
