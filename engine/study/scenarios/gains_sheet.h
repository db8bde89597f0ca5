// SPDX-License-Identifier: Apache-2.0
// Fills the gains in scenario results: by trade, and as totals by portfolio and currency.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/study/estimate.h"
#include "engine/study/scenarios/base_of_gains.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::studies {

class gains_sheet {
  public:
    // `to` has the results of the base market; `far` has the values of trades on the paths of far gains.
    gains_sheet(const gains_request& r, const std::vector<studies::estimate>& far, scenario_results& to)
        : r_(r), to_(to), totals_of_(r.trades.size()) {
        const std::size_t cells = r.asked.scenarios.size() * r.trades.size();
        to.gains.assign(cells, no_figure);
        to.errors = to.gains;
        if (converts()) to.converted_gains = to.converted_errors = to.gains;
        if (r.asked.for_differences) to.gain_parts.resize(cells);
        if (r.asked.for_differences && converts()) to.converted_gain_parts.resize(cells);
        std::vector<std::string> portfolios{""}, currencies;
        const auto add_name = [](const std::string& name, std::vector<std::string>& names) {
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        };
        for (std::size_t i = 0; i < r.trades.size(); ++i) {
            to.portfolios.push_back(r.all_trades()[i].portfolio);
            add_name(to.portfolios.back(), portfolios);
            if (has_base(i)) add_name(to.base.rows[i].currency, currencies);
        }
        for (const std::string& portfolio : portfolios) {
            for (const std::string& currency : currencies) begin_total({portfolio, currency, false}, far);
            if (converts()) begin_total({portfolio, r.asked.currency, true}, far);
        }
    }

    bool has_base(std::size_t trade) const { return to_.base.rows[trade].status == trade_status::priced; }

    // `in` is the market of the scenario. Several threads may add or fail, each in scenarios of its own.
    void add(std::size_t scenario, std::size_t trade, const market& in, const studies::estimate& then,
             const studies::estimate& now) {
        keep(scenario, trade, false, gain_of(then, 1, now, 1));
        if (converts())
            keep(scenario, trade, true, gain_of(then, rate_in(in, trade), now, rate_in(r_.in, trade)));
    }
    // Adds the gain of a trade whose inputs the scenario leaves alone: 0, or what its exchange rate changes.
    void add_still(std::size_t scenario, std::size_t trade, const market& in, const studies::estimate& now) {
        keep(scenario, trade, false, gain_of_still(now, 1, 1));
        if (converts())
            keep(scenario, trade, true, gain_of_still(now, rate_in(in, trade), rate_in(r_.in, trade)));
    }
    void fail(std::size_t scenario, std::size_t trade, const std::string& message, error_kind kind) {
        for (const std::size_t k : totals_of_[trade]) ++to_.totals[k].failed[scenario];
        const std::lock_guard guard(lock_);
        to_.failures.push_back({scenario, trade, message, kind});
    }

    // Finds the errors of totals. Call once, after all gains.
    void end() {
        const studies::run_parts parts = r_.parts(to_.part_paths);
        for (portfolio_gains& t : to_.totals) {
            for (std::size_t s = 0; s < t.gains.size(); ++s) {
                const auto first = t.means_of_parts.begin() + static_cast<std::ptrdiff_t>(s * t.parts);
                const auto end = first + static_cast<std::ptrdiff_t>(t.parts);
                t.errors[s] = studies::estimate({first, end}, parts).error();
                // If all its trades failed, a total is no figure: 0 would pass for a gain.
                if (t.failed[s] == t.trades.size()) t.gains[s] = t.errors[s] = no_figure;
            }
        }
        std::ranges::sort(to_.failures, {},
                          [](const failed_gain& f) { return std::pair(f.scenario, f.trade); });
    }

  private:
    void begin_total(portfolio_gains made, const std::vector<studies::estimate>& far) {
        for (std::size_t i = 0; i < r_.trades.size(); ++i) {
            if (!made.portfolio.empty() && to_.portfolios[i] != made.portfolio) continue;
            const price_row& row = to_.base.rows[i];
            if (!has_base(i) || !(made.is_converted || row.currency == made.currency)) continue;
            made.trades.push_back(i);
            made.base_value += (made.is_converted ? rate_in(r_.in, i) : 1.0) * row.value_in_totals();
            made.parts = std::max(made.parts, far[i].means.size());
        }
        if (made.trades.empty()) return;
        const std::size_t all = r_.asked.scenarios.size();
        made.gains.assign(all, 0.0);
        made.errors.assign(all, 0.0);
        made.failed.assign(all, 0);
        made.means_of_parts.assign(all * made.parts, 0.0);
        for (const std::size_t i : made.trades) totals_of_[i].push_back(to_.totals.size());
        to_.totals.push_back(std::move(made));
    }

    bool converts() const { return !r_.asked.currency.empty(); }
    // Returns how many units of the currency of totals one unit of the trade's currency is worth.
    double rate_in(const market& m, std::size_t trade) const {
        return state_of(m).fx_spot(to_.base.rows[trade].currency, r_.asked.currency);
    }
    static studies::estimate gain_of(studies::estimate then, double rate_then, const studies::estimate& now,
                                     double rate_now) {
        const bool has_moved = then.value != now.value || then.means != now.means;
        then *= rate_then;
        then.add(now, -rate_now);
        // Values are equal on all paths: no path has shown what the scenario does, so no error is known.
        if (!has_moved && !then.means.empty()) then.beside = no_figure;
        return then;
    }
    static studies::estimate gain_of_still(const studies::estimate& still, double rate_then,
                                           double rate_now) {
        studies::estimate out = (rate_then - rate_now) * still;
        out.value += 0.0;  // turns -0, as of a short trade, into 0
        return out;
    }

    void keep(std::size_t scenario, std::size_t trade, bool is_converted, const studies::estimate& gain) {
        const std::size_t cell = scenario * r_.trades.size() + trade;
        (is_converted ? to_.converted_gains : to_.gains)[cell] = gain.value;
        (is_converted ? to_.converted_errors : to_.errors)[cell] = gain.error();
        if (r_.asked.for_differences)
            (is_converted ? to_.converted_gain_parts : to_.gain_parts)[cell] = gain.means;
        for (const std::size_t k : totals_of_[trade]) {
            portfolio_gains& total = to_.totals[k];
            if (total.is_converted != is_converted) continue;
            total.gains[scenario] += gain.value;
            for (std::size_t p = 0; p < total.parts; ++p)
                total.means_of_parts[scenario * total.parts + p] += gain.mean(p);
        }
    }

    const gains_request& r_;
    scenario_results& to_;
    std::vector<std::vector<std::size_t>> totals_of_;  // by trade: places in to_.totals
    std::mutex lock_;                                  // guards to_.failures
};

}  // namespace tilewalk::studies
