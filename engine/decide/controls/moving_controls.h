// SPDX-License-Identifier: Apache-2.0
// Controls that move with the market as their payoffs do, for example strikes that move with the forward
// price, so that little variance is left in derivatives. A control's mean is known in each market, so no
// derivative is biased. A pilot in the unmoved market finds once how each control moves.
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

namespace tilewalk::studies {

class moving_controls {
  public:
    // `work` keeps the drifts that were found; null: nothing is kept.
    moving_controls(const market& here, const pilot_of_controls& by, const kept::work* work)
        : here_(here), by_(by), work_(work) {}

    // Adds a trade, and the control that `p` subtracts from it. `t` must outlive this object.
    void add(const books::trade& t, const planned& p);
    // Returns the trade's control in the unmoved market; null if it has none.
    std::shared_ptr<const controls::control> here(const std::string& trade) const {
        const of_trade* const of = find(trade);
        return of == nullptr ? nullptr : of->control;
    }
    double mean_here(const std::string& trade) const {
        const of_trade* const of = find(trade);
        return of == nullptr ? 0 : of->mean;
    }
    // Finds how the trade's control moves with each market key, by one pilot for all keys.
    void find_drifts(const std::string& trade, std::span<const std::string> keys);
    // Returns the trade's control in a moved market; empty if it has none.
    std::optional<controls::control> in(const std::string& trade, const market& other);

  private:
    struct of_trade {
        const books::trade* trade;
        std::shared_ptr<const controls::control> control;
        double mean = 0;                                  // of the control
        std::shared_ptr<const ready_rights> rights;       // keep alive the policy that paths follow
        kept::fingerprint known_as;                       // fingerprint of a drift, once a key is added
        std::mutex lock{};                                // guards drifts
        std::map<std::string, controls::drift> drifts{};  // by market key
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
    mutable std::mutex lock_;  // guards the maps below
    std::map<std::string, std::unique_ptr<of_trade>> trades_;
    std::map<std::string, std::unique_ptr<markets_about>> about_;  // by market key
};

}  // namespace tilewalk::studies
