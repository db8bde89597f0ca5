// SPDX-License-Identifier: Apache-2.0
// Finds differences for the usual shifts: gains as one number goes up or down, on the paths of the prices.
#include "tilewalk/differences.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/base/crew.h"
#include "engine/base/wording.h"
#include "engine/decide/exercise/saved_policy.h"
#include "engine/decide/policy_file.h"
#include "engine/decide/settled.h"
#include "engine/market/market_state.h"
#include "engine/plan/explanation.h"
#include "engine/plan/measures.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/simm_reader.h"
#include "engine/reading/written_market.h"
#include "engine/study/asked.h"
#include "engine/study/dependence.h"
#include "engine/study/files/crif.h"
#include "engine/study/files/differences.h"
#include "engine/study/manifest.h"
#include "engine/study/price.h"
#include "engine/study/scenarios/scenarios.h"
#include "engine/study/session/resources.h"
#include "products/dates/date.h"
#include "tilewalk/session.h"

namespace tilewalk {

namespace studies {

namespace {

// Returns the last time in years at which the trade's blocks run or its terms have a date.
double last_of(const books::trade& t, const plan::trade_program& made, dates::date as_of) {
    double last = 0;
    for (const language::block& b : made.blocks)
        for (const double years : b.times) last = std::max(last, years);
    for (const trade_term& term : plan::terms_of(t, as_of))
        if (term.type.starts_with("date") || term.type.starts_with("schedule"))
            for (const double years : term.numbers) last = std::max(last, years);
    return last;
}

void set_last_day(valued_trade& to, double years, dates::date as_of) {
    constexpr double days_a_year = 365;
    const dates::date day{as_of.serial + static_cast<std::int32_t>(std::lround(days_a_year * years))};
    to.last_day = dates::to_string(day);
    to.years_to_last_day = years;
    to.years_to_maturity = dates::year_fraction(as_of, day, dates::day_count::act_act);
}

// Returns the exchange rate; no figure if the market has none.
double rate_between(const market& in, const std::string& from, const std::string& to) {
    try {
        return state_of(in).fx_spot(from, to);
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        return no_figure;
    }
}

struct told_of_trades {
    difference_results result;
    std::vector<std::string> currencies;  // by trade; empty if it can't be planned
};

void refuse_unknown_rates(const difference_request& of, const told_of_trades& trades) {
    for (std::size_t i = 0; i < trades.currencies.size(); ++i)
        if (!trades.currencies[i].empty() && !is_figure(trades.result.trades[i].to_base))
            throw error(error_kind::input,
                        "the market has no exchange rate from " + trades.currencies[i] +
                            ", in which the trade " + config::shown(of.id(i)) + " is priced, to " +
                            trades.result.currency + ", the currency of calculation",
                        of.simm->where, markets::key_of_simm);
}

std::optional<simm_data> simm_of(const market& in) {
    return markets::read_simm(state_of(in).source->root(), state_of(in));
}

told_of_trades tell_of_trades(const difference_request& of) {
    const market& in = of.in;
    const settled run = settle(of.options, of.trades.settings());
    const std::vector<books::trade>& all = state_of(of.trades).trades;
    told_of_trades out;
    difference_results& result = out.result;
    result.simm = of.simm;
    if (of.simm) result.currency = of.simm->currency;
    result.numbers = in.numbers();
    result.trades.resize(all.size());
    out.currencies.resize(all.size());
    threads::for_each(all.size(), run.threads, of.options.cancel,
                      [&](int, std::uint64_t i) {
                          result.trades[i].portfolio = all[i].portfolio;
                          try {
                              if (all[i].failure) return;
                              const dates::date as_of = state_of(in).as_of;
                              const plan::trade_program made =
                                  plan::plan_trade(all[i], {state_of(in)}, run.how.precision);
                              out.currencies[i] = made.currency;
                              set_last_day(result.trades[i], last_of(all[i], made, as_of), as_of);
                          } catch (const error& e) {
                              // Pricing will report what is wrong with the trade.
                              if (e.kind() == error_kind::cancelled) throw;
                          }
                      },
                      {});
    const bool has_base = !result.currency.empty();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!out.currencies[i].empty())
            result.trades[i].to_base = has_base ? rate_between(in, out.currencies[i], result.currency) : 1;
    if (has_base && state_of(in).currencies.contains("USD"))
        result.base_to_usd = rate_between(in, result.currency, "USD");
    return out;
}

keys_by_trade find_keys(const difference_request& of, told_of_trades& to) {
    refuse_unknown_rates(of, to);
    const markets::market_state& in = state_of(of.in);
    const std::vector<trade_dependence> depends = dependence_of(of.trades, of.in, of.options);
    keys_by_trade out(depends.size());
    for (std::size_t i = 0; i < depends.size(); ++i) {
        bool has_equity = false;
        for (const market_number& n : depends[i].numbers) {
            out[i].insert(n.key);
            const std::string name(report::key_parts(n.key).name);
            has_equity = has_equity || (in.assets.contains(name) && of.currency_priced_by(name).empty());
        }
        to.result.trades[i].product_class = has_equity ? "Equity" : "RatesFX";
        // The value in the currency of calculation also depends on the exchange rate.
        if (!to.result.currency.empty() && !to.currencies[i].empty())
            for (const markets::fx_leg& leg : in.fx_legs(to.currencies[i], to.result.currency))
                out[i].insert(leg.pair->base + leg.pair->quote + ".rate");
    }
    return out;
}

void tell_of_left_out(const book_shifts& shifts, const std::optional<simm_shifts>& simm,
                      std::vector<std::string>& to) {
    std::vector<std::string> keys;
    bool has_parameters = false;
    for (const market_number* const n : shifts.left_out) {
        // fixings are facts and no risk
        if (n->unit.empty() || report::key_parts(n->key).what == "fixing") continue;
        keys.push_back(n->key);
        has_parameters =
            has_parameters || (n->unit.starts_with("parameter") && simm && !simm->tells_of(n->key));
    }
    if (keys.empty()) return;
    constexpr std::size_t most = 4;
    std::string text = keys.front();
    for (std::size_t k = 1; k < std::min(keys.size(), most); ++k) text += ", " + keys[k];
    if (keys.size() > most) text += " and " + std::to_string(keys.size() - most) + " more";
    to.push_back("ORE has no factor for these numbers, so sensitivity.csv has no lines for them: " + text +
                 "; the Greeks have them");
    if (has_parameters)
        to.emplace_back(
            "crif.csv has no volatility risk of the models of these parameters: SIMM needs quoted "
            "volatilities, which a market from 'tilewalk calibrate' keeps");
}

class difference_run {
  public:
    explicit difference_run(difference_request asked) : of_(std::move(asked)) {
        told_of_trades trades = tell_of_trades(of_);
        const keys_by_trade keys = find_keys(of_, trades);
        out_ = std::move(trades.result);
        shifts_ = book_shifts(of_, out_, keys);
        if (of_.simm) simm_.emplace(of_, keys, shifts_, out_);
    }

    valuations_of_differences valuations() && {
        valuations_of_differences out{std::move(shifts_.asked), {}, {}};
        if (!simm_) return out;
        out.by_numbers = simm_->by_numbers_of_fits();
        for (std::size_t i = 0; i < of_.trades.size(); ++i)
            if (simm_->has_fit(i)) out.trades.insert(of_.id(i));
        return out;
    }

    difference_results told(const resources& by) && {
        const std::size_t at_once = std::max(of_.wanted.trades_at_once, std::size_t{1}),
                          all = of_.trades.size();
        std::vector<exercise::saved_policy> policies;
        for (std::size_t first = 0; first < all; first += at_once)
            add_trades(by, first, std::min(first + at_once, all), policies);
        if (!policies.empty()) out_.values.policies = report::policies_json(policies);
        tell_of_left_out(shifts_, simm_, out_.remarks);
        return std::move(out_);
    }

  private:
    void add_trades(const resources& by, std::size_t first, std::size_t end,
                    std::vector<exercise::saved_policy>& policies) {
        std::vector<std::string> ids;
        for (std::size_t i = first; i < end; ++i) ids.push_back(of_.id(i));
        const bool is_whole = end - first == of_.trades.size();
        const scenario_results found =
            scenarios_as_asked(by, is_whole ? of_.trades : of_.trades.only(ids), of_.in, shifts_.asked,
                               of_.options, study::scenarios_in_session);
        results& values = out_.values;
        if (first == 0) {
            values.manifest = found.base.manifest;
        } else {
            add_walk(values.manifest, found.base.manifest);
            count_steps(values.manifest, found.base.manifest);
        }
        values.rows.insert(values.rows.end(), found.base.rows.begin(), found.base.rows.end());
        out_.remarks.insert(out_.remarks.end(), found.remarks.begin(), found.remarks.end());
        if (!found.base.policies.empty())
            std::ranges::move(report::read_policies(found.base.policies, "policies of prices"),
                              std::back_inserter(policies));
        const gains_of_trades gains(found, !out_.currency.empty(), first);
        const rate_greeks by_fits = find_rate_greeks(by, first, end);
        const std::string day(greeks::key_of_day);
        for (std::size_t i = first; i < end; ++i) {
            if (values.rows[i].status != trade_status::priced) continue;
            for (const std::size_t k : shifts_.numbers_of[i]) add_number(i, shifts_.numbers[k], gains);
            add({i, day, {}, shifts_.size_of_day}, "a day later", gains, {{shifts_.day, 1}}, {});
            for (const cross_shift& c : shifts_.crosses) add_cross(i, c, gains);
            if (simm_) add_crif({of_, shifts_, *simm_, gains, by_fits}, i, out_);
        }
    }

    rate_greeks find_rate_greeks(const resources& by, std::size_t first, std::size_t end) {
        run_manifest& manifest = out_.values.manifest;
        std::vector<std::string> ids;
        for (std::size_t i = first; simm_ && i < end; ++i)
            if (simm_->has_fit(i) && out_.values.rows[i].status == trade_status::priced)
                ids.push_back(of_.id(i));
        if (ids.empty()) return {};
        round_of_study asked{of_.trades.only(ids), of_.options};
        // Derivatives take the paths of the last round of gains.
        if (const settled run = settle(of_.options, state_of(of_.trades), {&of_.in, 1}); run.accuracy)
            asked = of_round(asked.trades, of_.options, run, {manifest.paths, manifest.seed});
        rate_greeks out(
            greeks_as_asked(by, asked.trades, of_.in, simm_->by_numbers_of_fits(), asked.options, true));
        count_steps(manifest, out.found.manifest);
        return out;
    }

    void add_number(std::size_t trade, const number_shift& s, const gains_of_trades& gains) {
        difference_row row{trade, s.number->key};
        row.size = s.size;
        if (!gains.own.has(trade, s.up)) row.method = "bump_down";
        add(std::move(row), s.number->key, gains, {gains.own.move(trade, s.up, s.down)},
            {{s.up, 1}, {s.down, 1}});
    }

    void add_cross(std::size_t trade, const cross_shift& c, const gains_of_trades& gains) {
        for (const std::size_t k : {c.first, c.second})
            if (!std::ranges::binary_search(shifts_.numbers_of[trade], k)) return;
        const number_shift &first = shifts_.numbers[c.first], &second = shifts_.numbers[c.second];
        const std::string &key = first.number->key, &other = second.number->key;
        const difference none{0, 0};
        add({trade, key, other, first.size, second.size, none, none}, key + " and " + other, gains, {},
            {{c.both, 1}, {first.up, -1}, {second.up, -1}});
    }

    // Adds a row, with delta and gamma as weighted sums of gains; an empty sum leaves the row's figure.
    void add(difference_row row, const std::string& what, const gains_of_trades& gains,
             const std::vector<share_of_gain>& delta, const std::vector<share_of_gain>& gamma) {
        row.paths = out_.values.rows[row.trade].paths;
        for (const auto& [to, from] : {std::pair(&row.own, &gains.own), std::pair(&row.base, &gains.base)}) {
            if (!delta.empty()) std::tie(to->delta, to->delta_error) = from->gain_of(row.trade, delta);
            if (!gamma.empty()) std::tie(to->gamma, to->gamma_error) = from->gain_of(row.trade, gamma);
        }
        if (!is_figure(delta.empty() ? row.own.gamma : row.own.delta))
            gains.add_failure(row.trade, what, gamma.empty() ? delta : gamma, out_);
        out_.rows.push_back(std::move(row));
    }

    const difference_request of_;
    difference_results out_;
    book_shifts shifts_;
    std::optional<simm_shifts> simm_{};
};

}  // namespace

difference_results differences_as_asked(const resources& with, const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options) {
    const asked_of_study asked = asked_of(study::files_of_greeks, trades, options);
    return difference_run({asked.trades, in, wanted, asked.options, simm_of(in)}).told(with);
}

valuations_of_differences valuations_of(const book& trades, const market& in,
                                        const difference_options& wanted, const inner_options& options) {
    return difference_run({trades, in, wanted, options, simm_of(in)}).valuations();
}

}  // namespace studies

difference_results valued(const book& trades, const market& in, const results& priced) {
    difference_results out = studies::tell_of_trades({trades, in, {}, {}, studies::simm_of(in)}).result;
    out.values = priced;
    return out;
}

difference_results differences(const engine& by, const book& trades, const market& in,
                               const difference_options& wanted, const run_options& options) {
    const studies::resources with(state_of(by), studies::resources::lasts::many_calls);
    return studies::differences_as_asked(with, trades, in, wanted, {options});
}

}  // namespace tilewalk
