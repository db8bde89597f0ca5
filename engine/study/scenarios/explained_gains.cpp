// SPDX-License-Identifier: Apache-2.0
#include "engine/study/scenarios/explained_gains.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/measures.h"
#include "engine/reading/written_market.h"
#include "engine/study/scenarios/next_day.h"

namespace tilewalk::studies {

namespace {

// Moves of a scenario by key, in units of the moves that sensitivities are for.
using moves = std::map<std::string, double, std::less<>>;

class moves_of_scenarios {
  public:
    explicit moves_of_scenarios(const market& in) : in_(in) {}

    moves moves_in(const scenario& s) const {
        moves out;
        for (const market_change& c : s.changes) {
            const markets::keyed_number& number = state_of(in_).source->find(c.key);
            const double by =
                c.is == market_change::way::shift ? c.amount : c.amount - in_.number(c.key).value;
            out[number.key] = by / greeks::risk_of(number).per;
        }
        if (s.days != 0) out[std::string(key_of_day)] = s.days;
        return out;
    }

  private:
    const market& in_;
};

double move_of(const moves& all, std::string_view key) {
    const auto found = all.find(key);
    return found == all.end() ? 0 : found->second;
}

// Sums of sensitivities over the trades of a portfolio, by measure and key.
class taylor_terms {
  public:
    void add(const greek_row& row) { values_[row.measure][row.key] += row.value; }

    double explained_by(const std::string& measure, const moves& by) const {
        const auto of = values_.find(measure);
        if (of == values_.end()) return 0;
        double out = 0;
        for (const auto& [key, value] : of->second) out += value * factor(measure, key, by);
        return out;
    }

  private:
    double factor(const std::string& measure, const std::string& key, const moves& by) const {
        if (const std::size_t two = key.find(';'); two != key.npos)
            return move_of(by, key.substr(0, two)) * move_of(by, key.substr(two + 1));
        const double move = move_of(by, key);
        if (measure == "gamma") return 0.5 * move * move;
        // Volga is the change of one node's vega as the whole volatility moves, hence by the nodes' mean
        // move.
        if (measure == "volga") return 0.5 * move * mean_move_beside(key, by);
        return move;
    }
    double mean_move_beside(const std::string& key, const moves& by) const {
        const std::string_view asset = std::string_view(key).substr(0, key.find('.') + 1);
        double sum = 0, n = 0;
        for (const auto& [other, value] : values_.at("volga")) {
            if (!other.starts_with(asset)) continue;
            sum += move_of(by, other);
            ++n;
        }
        return n > 0 ? sum / n : 0;
    }

    std::map<std::string, std::map<std::string, double>> values_;
};

}  // namespace

greek_options greeks_of_moves(const market& in, const scenario_list& asked) {
    std::set<std::string> keys, measures;
    for (const scenario& s : asked.scenarios) {
        for (const market_change& c : s.changes) {
            const markets::keyed_number& number = state_of(in).source->find(c.key);
            const std::string measure(greeks::risk_of(number).measure);
            if (measure.empty()) continue;  // such as a fixing, which is no risk
            keys.insert(number.key);
            measures.insert(measure);
        }
        if (s.days != 0) keys.insert("theta");
    }
    if (measures.contains("delta")) keys.insert({"gamma", "cross_gamma"});
    if (measures.contains("vega")) keys.insert("volga");
    if (measures.contains("delta") && measures.contains("vega")) keys.insert("vanna");
    greek_options out;
    out.wanted.assign(keys.begin(), keys.end());
    return out;
}

void explain_gains(scenario_results& to, const market& in, const results& sensitivities) {
    std::map<std::string, std::vector<const greek_row*>, std::less<>> by_trade;
    std::set<std::string> found;
    for (const greek_row& row : sensitivities.greeks) {
        // Rows without a key are totals over keys and would count twice.
        if (row.has_failed() || row.key.empty()) continue;
        by_trade[row.trade].push_back(&row);
        found.insert(row.measure);
    }
    for (const greek_measure& m : greek_measures())
        if (found.contains(std::string(m.name))) to.measures.emplace_back(m.name);
    std::vector<moves> of_scenario;
    const moves_of_scenarios make(in);
    for (const scenario& s : to.scenarios) of_scenario.push_back(make.moves_in(s));
    for (const portfolio_gains& p : to.totals) {
        if (p.is_converted) continue;
        taylor_terms terms;
        for (const std::size_t i : p.trades)
            for (const greek_row* row : by_trade[to.base.rows[i].trade]) terms.add(*row);
        for (std::size_t s = 0; s < to.scenarios.size(); ++s) {
            explained_gain& e = to.explained.emplace_back();
            e.scenario = s;
            e.portfolio = p.portfolio;
            e.currency = p.currency;
            e.gain = e.left = p.gains[s];
            e.error = p.errors[s];
            for (const std::string& m : to.measures) {
                e.by_measure.push_back(terms.explained_by(m, of_scenario[s]));
                e.left -= e.by_measure.back();
            }
        }
    }
}

}  // namespace tilewalk::studies
