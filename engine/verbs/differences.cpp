// SPDX-License-Identifier: Apache-2.0
// Differences for the usual shifts: scenarios in which one number is up or down, on the paths of the prices.
#include "tilewalk/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "engine/book/book_state.h"
#include "engine/calibration/quoted_models.h"
#include "engine/config/wording.h"
#include "engine/exercise/saved_policy.h"
#include "engine/greeks/measures.h"
#include "engine/market/market_state.h"
#include "engine/plan/explanation.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/simm_reader.h"
#include "engine/reading/written_market.h"
#include "engine/report/greek_sums.h"
#include "engine/report/ore_factors.h"
#include "engine/report/policy_file.h"
#include "engine/study/estimate.h"
#include "engine/threads/crew.h"
#include "engine/verbs/asked.h"
#include "engine/verbs/dependence.h"
#include "engine/verbs/differences.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/price.h"
#include "engine/verbs/resources.h"
#include "engine/verbs/scenarios.h"
#include "engine/verbs/settled.h"
#include "products/dates/date.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/session.h"

namespace tilewalk {

namespace verbs {

namespace {

using greeks::key_of_day;
using report::key_parts;
using report::ore_factor;
using report::ore_kind;

constexpr double days_a_year = 365;
// The move of a currency against that of calculation, in SIMM.
constexpr double fx_move = 0.01;
constexpr std::size_t none = static_cast<std::size_t>(-1);

// The scenarios of all shifts, each once.
class shift_list {
  public:
    std::size_t add(std::vector<market_change> changes, int days = 0) {
        std::vector<std::tuple<std::string, double, bool>> same;
        for (const market_change& c : changes)
            same.emplace_back(c.key, c.amount, c.is == market_change::way::set);
        std::ranges::sort(same);
        const auto [at, is_new] = known_.try_emplace({days, std::move(same)}, asked.scenarios.size());
        if (is_new)
            asked.scenarios.push_back(
                {"shift", std::to_string(asked.scenarios.size()), std::move(changes), days});
        return at->second;
    }

    scenario_list asked;

  private:
    std::map<std::pair<int, std::vector<std::tuple<std::string, double, bool>>>, std::size_t> known_;
};

struct figure {
    double value = no_figure, error = no_figure;
};
// The gain of a scenario, so many times.
struct share_of_gain {
    std::size_t scenario = 0;
    double weight = 1;
};

// Sums of gains of a trade, with errors that know what the gains have in common.
class sums_of_gains {
  public:
    // The results are of the trades of the book from `first` on.
    sums_of_gains(const scenario_results& r, bool in_base, std::size_t first)
        : r_(r),
          first_(first),
          gains_(in_base ? r.converted_gains : r.gains),
          errors_(in_base ? r.converted_errors : r.errors),
          parts_(in_base ? r.converted_gain_parts : r.gain_parts),
          // A gain has an error if its parts are enough for one.
          run_(r.part_paths, r.base.manifest.paths, 0) {}

    figure of(std::size_t trade, std::span<const share_of_gain> shares) const {
        studies::estimate sum;
        double beside = 0;
        for (const share_of_gain& s : shares) {
            const std::size_t cell = cell_of(trade, s.scenario);
            if (!is_figure(gains_[cell])) return {};
            studies::estimate gain(parts_[cell], run_);
            gain.value = gains_[cell];
            // An error that parts do not show may differ from gain to gain, or be the same.
            const double error = errors_[cell], shown = gain.error();
            beside += is_figure(error)
                          ? std::abs(s.weight) * std::sqrt(std::max(0.0, (error - shown) * (error + shown)))
                          : no_figure;
            sum.add(gain, s.weight);
        }
        return {sum.value, std::hypot(sum.error(), beside)};
    }
    figure of(std::size_t trade, std::initializer_list<share_of_gain> shares) const {
        return of(trade, std::span(shares.begin(), shares.size()));
    }
    bool has(std::size_t trade, std::size_t scenario) const {
        return is_figure(gains_[cell_of(trade, scenario)]);
    }

  private:
    std::size_t cell_of(std::size_t trade, std::size_t scenario) const {
        return scenario * r_.trades() + trade - first_;
    }

    const scenario_results& r_;
    const std::size_t first_;
    const std::vector<double>&gains_, &errors_;
    const std::vector<std::vector<double>>& parts_;
    const studies::run_parts run_;
};

// A number with the scenarios in which it is up and down.
struct number_shift {
    const market_number* number = nullptr;
    const ore_factor* factor = nullptr;
    std::size_t up = none, down = none;
};

// The last of the days on which something happens to a trade, as the book has them.
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
    const dates::date day{as_of.serial + static_cast<std::int32_t>(std::lround(days_a_year * years))};
    to.last_day = dates::to_string(day);
    to.years_to_last_day = years;
    to.years_to_maturity = dates::year_fraction(as_of, day, dates::day_count::act_act);
}

// ---- SIMM
// --------------------------------------------------------------------------------------------------

struct vertex {
    std::string_view name;
    double years;
};
constexpr std::array vertices{vertex{"2w", 14 / days_a_year},
                              vertex{"1m", 1.0 / 12},
                              vertex{"3m", 0.25},
                              vertex{"6m", 0.5},
                              vertex{"1y", 1},
                              vertex{"2y", 2},
                              vertex{"3y", 3},
                              vertex{"5y", 5},
                              vertex{"10y", 10},
                              vertex{"15y", 15},
                              vertex{"20y", 20},
                              vertex{"30y", 30}};

struct share_of_vertex {
    std::size_t at;
    double weight;
};
// A time shared between the two vertices about it, linearly; all of it at an end where it lies outside.
std::vector<share_of_vertex> shares_of(double years) {
    const auto above =
        std::ranges::find_if(vertices, [&](const vertex& v) { return v.years >= years; }) - vertices.begin();
    const auto at = static_cast<std::size_t>(above);
    if (at == 0) return {{0, 1}};
    if (at == vertices.size()) return {{vertices.size() - 1, 1}};
    const double low = vertices[at - 1].years, high = vertices[at].years;
    const double weight = (years - low) / (high - low);
    if (weight == 1) return {{at, 1}};
    return {{at - 1, 1 - weight}, {at, weight}};
}

// SIMM's groups of currencies by how much their rates move: regular, low, high.
std::string bucket_of(std::string_view currency) {
    static const std::set<std::string_view> regular{"USD", "EUR", "GBP", "CHF", "AUD", "NZD", "CAD",
                                                    "SEK", "NOK", "DKK", "HKD", "KRW", "SGD", "TWD"};
    return regular.contains(currency) ? "1" : currency == "JPY" ? "2" : "3";
}

// The key of a row of CRIF; vertices in their order.
struct crif_key {
    std::string_view risk_type;
    std::string qualifier, bucket;
    std::size_t at = none;  // the vertex
    auto operator<=>(const crif_key&) const = default;
};

// ---- All together
// ------------------------------------------------------------------------------------------

class difference_run {
  public:
    difference_run(const book& trades, const market& in, const difference_options& wanted,
                   const run_options& options)
        : book_(trades),
          in_(in),
          wanted_(wanted),
          options_(options),
          simm_(markets::read_simm(in.state().source->root(), in.state())) {
        out_.simm = simm_;
        if (simm_) out_.currency = simm_->currency;
        out_.numbers = in.numbers();
        factors_.emplace(out_.numbers);
    }

    // Facts of trades, with the currencies of those that can be planned.
    void find_trades() {
        const settled run = settle(options_, book_.settings());
        const std::vector<books::trade>& all = book_.state().trades;
        const dates::date as_of = in_.state().as_of;
        out_.trades.resize(all.size());
        currencies_.resize(all.size());
        threads::for_each(all.size(), run.threads, options_.cancel,
                          [&](int, std::uint64_t i) {
                              out_.trades[i].portfolio = all[i].portfolio;
                              try {
                                  if (all[i].failure) return;
                                  const plan::trade_program made =
                                      plan::plan_trade(all[i], {in_.state()}, run.how.precision);
                                  currencies_[i] = made.currency;
                                  set_last_day(out_.trades[i], last_of(all[i], made, as_of), as_of);
                              } catch (const error& e) {
                                  if (e.kind() == error_kind::cancelled)
                                      throw;  // where it is priced it is said what is wrong
                              }
                          },
                          {});
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!currencies_[i].empty()) out_.trades[i].to_base = rate_to_base(currencies_[i]);
        if (!out_.currency.empty() && in_.state().currencies.contains("USD"))
            out_.base_to_usd = rate_between(out_.currency, "USD");
    }

    valuations_of_differences valuations() {
        find_valuations();
        valuations_of_differences out{std::move(list_.asked), by_numbers_of_fits(), {}};
        for (std::size_t i = 0; i < book_.size(); ++i)
            if (has_fit(i)) out.trades.insert(id(i));
        return out;
    }

    difference_results valued(const results& priced) {
        find_trades();
        out_.values = priced;
        return std::move(out_);
    }

    difference_results told(const resources& by) {
        find_valuations();
        const std::size_t at_once = std::max(wanted_.trades_at_once, std::size_t{1});
        for (std::size_t first = 0; first < book_.size(); first += at_once)
            add_trades(by, first, std::min(first + at_once, book_.size()));
        if (!policies_.empty()) out_.values.policies = report::policies_json(policies_);
        tell_of_left_out();
        return std::move(out_);
    }

  private:
    void find_valuations() {
        find_trades();
        refuse_unknown_rates();
        find_shifts();
        list_.asked.currency = out_.currency;
        list_.asked.for_differences = true;
    }

    void add_trades(const resources& by, std::size_t first, std::size_t end) {
        std::vector<std::string> ids;
        for (std::size_t i = first; i < end; ++i) ids.push_back(id(i));
        const bool is_whole = end - first == book_.size();
        const scenario_results gains =
            scenarios_as_asked(by, is_whole ? book_ : book_.only(ids), in_, list_.asked, options_, true);
        results& values = out_.values;
        if (first == 0) {
            values.manifest = gains.base.manifest;
        } else {
            add_walk(values.manifest, gains.base.manifest);
            values.manifest.path_steps += gains.base.manifest.path_steps;
        }
        values.rows.insert(values.rows.end(), gains.base.rows.begin(), gains.base.rows.end());
        out_.remarks.insert(out_.remarks.end(), gains.remarks.begin(), gains.remarks.end());
        if (!gains.base.policies.empty())
            std::ranges::move(report::read_policies(gains.base.policies, "policies of prices"),
                              std::back_inserter(policies_));
        messages_.clear();
        for (const failed_gain& f : gains.failures) messages_[{f.scenario, first + f.trade}] = &f;
        const sums_of_gains own(gains, false, first), base(gains, !out_.currency.empty(), first);
        find_rate_greeks(by, first, end);
        for (std::size_t i = first; i < end; ++i) {
            if (values.rows[i].status != trade_status::priced) continue;
            for (const std::size_t k : numbers_of_[i]) add_number(i, shifts_[k], own, base);
            add_day(i, own, base);
            for (const cross& c : crosses_) add_cross(i, c, own, base);
            if (simm_) add_crif(i, base);
        }
    }

    struct cross {
        std::size_t first, second;  // of shifts_
        std::size_t both = none;
    };

    const std::string& id(std::size_t trade) const { return book_.state().trades[trade].id; }

    // None where the market has no such rate.
    double rate_between(const std::string& from, const std::string& to) const {
        try {
            return in_.state().fx_spot(from, to);
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
            return no_figure;
        }
    }
    double rate_to_base(const std::string& currency) const {
        return out_.currency.empty() ? 1 : rate_between(currency, out_.currency);
    }
    // Before anything is priced.
    void refuse_unknown_rates() const {
        for (std::size_t i = 0; i < currencies_.size(); ++i)
            if (!currencies_[i].empty() && !is_figure(out_.trades[i].to_base))
                throw error(error_kind::input,
                            "the market has no exchange rate from " + currencies_[i] +
                                ", in which the trade " + config::shown(id(i)) + " is priced, to " +
                                out_.currency + ", the currency of calculation",
                            simm_->where, markets::key_of_simm);
    }
    void refuse_unknown_names() const {
        for (std::size_t i = 0; i < numbers_of_.size(); ++i)
            for (const std::size_t k : numbers_of_[i])
                if (is_of_asset(shifts_[k].factor->kind)) name_of(shifts_[k], i);
    }
    static bool is_of_asset(ore_kind kind) {
        return kind == ore_kind::equity_spot || kind == ore_kind::equity_volatility;
    }
    // The currency that the asset of this name is the price of, in SIMM; empty: it is none, or an equity.
    std::string currency_priced_by(std::string_view asset) const {
        if (!simm_) return {};
        const auto found = simm_->names.find(asset);
        return found == simm_->names.end() ? "" : found->second.fx;
    }
    const simm_data::name& name_of(const number_shift& s, std::size_t trade) const {
        return markets::simm_name(*simm_, std::string(key_parts(s.number->key).name), id(trade));
    }

    void find_shifts() {
        const std::vector<trade_dependence> depends = dependence_of(book_, in_, options_);
        std::vector<std::set<std::string>> keys(depends.size());
        std::set<std::string> all;
        for (std::size_t i = 0; i < depends.size(); ++i) {
            bool has_equity = false;
            for (const market_number& n : depends[i].numbers) {
                keys[i].insert(n.key);
                const std::string name(key_parts(n.key).name);
                has_equity =
                    has_equity || (in_.state().assets.contains(name) && currency_priced_by(name).empty());
            }
            out_.trades[i].product_class = has_equity ? "Equity" : "RatesFX";
            // A value in another currency moves with the exchange rate.
            if (!out_.currency.empty() && !currencies_[i].empty())
                for (const markets::fx_leg& leg : in_.state().fx_legs(currencies_[i], out_.currency))
                    keys[i].insert(leg.pair->base + leg.pair->quote + ".rate");
            all.insert(keys[i].begin(), keys[i].end());
        }
        std::map<std::string, std::size_t> places;
        for (const market_number& n : out_.numbers) {
            if (!all.contains(n.key)) continue;
            const ore_factor* const factor = factors_->of(n.key);
            if (factor == nullptr) {
                left_out_.push_back(&n);
                continue;
            }
            places[n.key] = shifts_.size();
            shifts_.push_back(
                {&n, factor, list_.add({{n.key, factor->shift}}), list_.add({{n.key, -factor->shift}})});
        }
        day_ = list_.add({}, 1);
        numbers_of_.resize(depends.size());
        for (std::size_t i = 0; i < depends.size(); ++i) {
            for (const std::string& key : keys[i])
                if (const auto at = places.find(key); at != places.end())
                    numbers_of_[i].push_back(at->second);
            std::ranges::sort(numbers_of_[i]);
        }
        find_crosses();
        if (!simm_) return;
        refuse_unknown_names();
        find_currencies();
        find_rate_fits(keys);
    }

    // The fits of rate models to volatilities whose numbers each trade depends on.
    void find_rate_fits(const std::vector<std::set<std::string>>& keys) {
        fits_of_.resize(keys.size());
        const bool is_asked = std::ranges::any_of(left_out_, [&](const market_number* n) {
            return n->unit.starts_with("parameter") &&
                   in_.state().currencies.contains(n->key.substr(0, n->key.find('.')));
        });
        if (!is_asked || !calibrations::keeps_quotes(in_)) return;
        try {
            fits_ = calibrations::follow_quotes(in_, options_.cancel, calibrations::fitted_part::currency);
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
            out_.failures.push_back(std::string("volatilities that rate models were fitted to: ") + e.what());
            return;
        }
        std::erase_if(fits_, [](const calibrations::fitted_numbers& f) { return !f.has_volatilities(); });
        for (std::size_t i = 0; i < keys.size(); ++i)
            for (std::size_t f = 0; f < fits_.size(); ++f)
                if (std::ranges::any_of(fits_[f].keys,
                                        [&](const std::string& k) { return keys[i].contains(k); }))
                    fits_of_[i].push_back(f);
    }

    bool has_fit(std::size_t trade) const { return simm_ && !fits_of_[trade].empty(); }
    greek_options by_numbers_of_fits() const {
        std::set<std::string> keys;
        for (const calibrations::fitted_numbers& f : fits_) keys.insert(f.keys.begin(), f.keys.end());
        return {.wanted = {keys.begin(), keys.end()}};
    }

    // Derivatives by the numbers of these fits.
    void find_rate_greeks(const resources& by, std::size_t first, std::size_t end) {
        rate_greeks_of_.clear();
        rate_greeks_ = {};
        std::vector<std::string> ids;
        for (std::size_t i = first; i < end; ++i)
            if (has_fit(i) && out_.values.rows[i].status == trade_status::priced) ids.push_back(id(i));
        if (ids.empty()) return;
        round_of_study of{book_.only(ids), options_};
        // Gains have their paths now, and these are theirs.
        if (const settled run = settle(options_, book_.state(), {&in_, 1}); run.accuracy)
            of = of_round(of.trades, options_, run, {out_.values.manifest.paths, out_.values.manifest.seed});
        rate_greeks_ = greeks_as_asked(by, of.trades, in_, by_numbers_of_fits(), of.options, true);
        for (const greek_row& r : rate_greeks_.greeks) rate_greeks_of_[r.trade].push_back(&r);
        out_.values.manifest.path_steps += rate_greeks_.manifest.path_steps;
    }

    // Pairs of numbers that one trade depends on.
    void find_crosses() {
        std::set<std::pair<std::size_t, std::size_t>> pairs;
        for (const std::vector<std::size_t>& numbers : numbers_of_) {
            for (const std::size_t a : numbers) {
                if (shifts_[a].factor->kind != ore_kind::equity_spot) continue;
                for (const std::size_t b : numbers) {
                    const ore_kind kind = shifts_[b].factor->kind;
                    const bool is_vol =
                        kind == ore_kind::equity_volatility || kind == ore_kind::fx_volatility;
                    if ((wanted_.cross_gamma && kind == ore_kind::equity_spot && b > a) ||
                        (wanted_.vanna && is_vol))
                        pairs.emplace(a, b);
                }
            }
        }
        for (const auto& [a, b] : pairs) {
            const number_shift &first = shifts_[a], &second = shifts_[b];
            crosses_.push_back({a, b,
                                list_.add({{first.number->key, first.factor->shift},
                                           {second.number->key, second.factor->shift}})});
        }
    }

    // The price of a currency in another: an exchange rate of the market, or an asset that is one.
    struct price_of_currency {
        std::string key, base, quote;
        double value = 0;
    };
    std::vector<price_of_currency> prices_of_currencies() const {
        std::vector<price_of_currency> out;
        for (const markets::fx_rate& pair : in_.state().fx)
            out.push_back({pair.base + pair.quote + ".rate", pair.base, pair.quote, pair.rate});
        for (const auto& [name, asset] : in_.state().assets)
            if (const std::string base = currency_priced_by(name); !base.empty())
                out.push_back({name + ".spot", base, asset.currency, asset.spot});
        return out;
    }

    // Shifts of each currency against that of calculation: all rates in which it stands move together.
    void find_currencies() {
        const auto is_shifted = [&](const std::string& key) {
            return std::ranges::any_of(shifts_, [&](const number_shift& s) { return s.number->key == key; });
        };
        const std::vector<price_of_currency> prices = prices_of_currencies();
        std::set<std::string> wanted;
        for (const price_of_currency& p : prices)
            if (is_shifted(p.key)) wanted.insert({p.base, p.quote});
        wanted.erase(out_.currency);
        for (const std::string& currency : wanted) {
            std::vector<market_change> changes;
            for (const price_of_currency& p : prices) {
                if (p.base == currency)
                    changes.push_back({p.key, fx_move * p.value});
                else if (p.quote == currency)
                    changes.push_back({p.key, p.value / (1 + fx_move) - p.value});
            }
            currency_shifts_[currency] = list_.add(std::move(changes));
        }
    }

    // Why there is no value: the reason of the first of these scenarios that has one.
    void fail(std::size_t trade, const std::string& what, std::initializer_list<std::size_t> scenarios) {
        for (const std::size_t s : scenarios) {
            const auto found = messages_.find({s, trade});
            if (found == messages_.end()) continue;
            out_.failures.push_back("trade " + id(trade) + ", " + what + ": " + found->second->message);
            if (found->second->kind == error_kind::device) out_.worst = error_kind::device;
            return;
        }
    }

    void add_number(std::size_t trade, const number_shift& s, const sums_of_gains& own,
                    const sums_of_gains& base) {
        difference_row row = begun(trade, s.number->key, s.factor->shift);
        const bool has_up = own.has(trade, s.up), has_down = own.has(trade, s.down);
        if (!has_up) row.method = "bump_down";
        if (!has_up && !has_down) fail(trade, s.number->key, {s.up, s.down});
        for (const auto& [to, from] : {std::pair(&row.own, &own), std::pair(&row.base, &base)}) {
            const figure delta =
                from->of(trade, {has_up ? share_of_gain{s.up, 1} : share_of_gain{s.down, -1}});
            const figure gamma = from->of(trade, {{s.up, 1}, {s.down, 1}});
            *to = {delta.value, delta.error, gamma.value, gamma.error};
        }
        out_.rows.push_back(std::move(row));
    }

    void add_day(std::size_t trade, const sums_of_gains& own, const sums_of_gains& base) {
        difference_row row = begun(trade, std::string(key_of_day), factors_->of(key_of_day)->shift);
        if (!own.has(trade, day_)) fail(trade, "a day later", {day_});
        for (const auto& [to, from] : {std::pair(&row.own, &own), std::pair(&row.base, &base)}) {
            const figure delta = from->of(trade, {{day_, 1}});
            *to = {delta.value, delta.error};
        }
        out_.rows.push_back(std::move(row));
    }

    void add_cross(std::size_t trade, const cross& c, const sums_of_gains& own, const sums_of_gains& base) {
        const std::vector<std::size_t>& numbers = numbers_of_[trade];
        for (const std::size_t k : {c.first, c.second})
            if (!std::ranges::binary_search(numbers, k)) return;
        const number_shift &first = shifts_[c.first], &second = shifts_[c.second];
        difference_row row = begun(trade, first.number->key, first.factor->shift);
        row.second_key = second.number->key;
        row.second_size = second.factor->shift;
        for (const auto& [to, from] : {std::pair(&row.own, &own), std::pair(&row.base, &base)}) {
            const figure gamma = from->of(trade, {{c.both, 1}, {first.up, -1}, {second.up, -1}});
            *to = {0, 0, gamma.value, gamma.error};
        }
        if (!is_figure(row.own.gamma))
            fail(trade, row.key + " and " + row.second_key, {c.both, first.up, second.up});
        out_.rows.push_back(std::move(row));
    }

    difference_row begun(std::size_t trade, std::string key, double size) const {
        difference_row row;
        row.trade = trade;
        row.key = std::move(key);
        row.size = size;
        row.paths = out_.values.rows[trade].paths;
        return row;
    }

    // The gain of a move up, or the loss of one down where there is no market above.
    static share_of_gain move_up(std::size_t trade, const number_shift& s, const sums_of_gains& in) {
        return in.has(trade, s.up) || !in.has(trade, s.down) ? share_of_gain{s.up, 1}
                                                             : share_of_gain{s.down, -1};
    }

    // A number that holds at all times moves what happens up to the last day.
    double years_of(const key_parts& key, std::size_t trade) const {
        if (const auto years = key.years()) return *years;
        if (const auto day = dates::parse_date(key.time))
            return dates::time_point{*day}.years(in_.state().as_of);
        return out_.trades[trade].years_to_last_day;
    }

    void add_crif(std::size_t trade, const sums_of_gains& base) {
        std::map<crif_key, std::vector<share_of_gain>> sums;
        std::set<std::string> currencies;
        for (const std::size_t k : numbers_of_[trade]) {
            const number_shift& s = shifts_[k];
            const key_parts parts(s.number->key);
            const std::string name(parts.name);
            const share_of_gain gain = move_up(trade, s, base);
            const auto add_by_time = [&](std::string_view risk_type, const std::string& qualifier,
                                         const std::string& bucket) {
                for (const share_of_vertex& v : shares_of(years_of(parts, trade)))
                    sums[{risk_type, qualifier, bucket, v.at}].push_back(
                        {gain.scenario, gain.weight * v.weight});
            };
            const auto add_volatility = [&](const std::string& first, const std::string& second) {
                add_by_time("Risk_FXVol", std::min(first, second) + std::max(first, second), "");
            };
            const auto add_rate = [&](const std::string& currency) {
                add_by_time("Risk_IRCurve", currency, bucket_of(currency));
            };
            const std::string priced = currency_priced_by(name);
            const bool is_equity = priced.empty();
            const auto priced_in = [&] { return in_.state().assets.at(name).currency; };
            switch (s.factor->kind) {
                case ore_kind::equity_spot: {
                    if (!is_equity) {
                        currencies.insert({priced, priced_in()});
                        break;
                    }
                    const simm_data::name& simm = name_of(s, trade);
                    sums[{"Risk_Equity", simm.qualifier, simm.bucket, none}].push_back(gain);
                    break;
                }
                case ore_kind::equity_volatility: {
                    if (!is_equity) {
                        add_volatility(priced, priced_in());
                        break;
                    }
                    const simm_data::name& simm = name_of(s, trade);
                    add_by_time("Risk_EquityVol", simm.qualifier, simm.bucket);
                    break;
                }
                case ore_kind::fx_volatility:
                    add_volatility(name.substr(0, 3), name.substr(3));
                    break;
                case ore_kind::discount_rate:
                    add_rate(name);
                    break;
                case ore_kind::fx_spot:
                    currencies.insert({name.substr(0, 3), name.substr(3)});
                    break;
                case ore_kind::dividend_yield:
                    // A currency's yield is its interest rate.
                    if (!is_equity) add_rate(priced);
                    break;
                case ore_kind::day:
                    break;
            }
        }
        for (const auto& [key, shares] : sums) {
            const figure sum = base.of(trade, shares);
            const bool has_time = key.at != none, is_rate = key.risk_type == "Risk_IRCurve";
            out_.crif.push_back({trade, key.risk_type, key.qualifier, key.bucket,
                                 has_time ? std::string(vertices[key.at].name) : "", is_rate ? "OIS" : "",
                                 sum.value, sum.error});
        }
        for (const std::size_t f : fits_of_[trade]) add_rate_volatility(trade, fits_[f]);
        // The rest of the value moves with the currency of calculation.
        const double rate = out_.trades[trade].to_base;
        const price_row& row = out_.values.rows[trade];
        figure left{fx_move * rate * row.value_in_totals(), fx_move * rate * row.error_in_totals()};
        currencies.erase(out_.currency);
        for (const std::string& currency : currencies) {
            const std::size_t shift = currency_shifts_.at(currency);
            const figure gain = base.of(trade, {{shift, 1}});
            if (!is_figure(gain.value)) fail(trade, currency + " against " + out_.currency, {shift});
            out_.crif.push_back({trade, "Risk_FX", currency, "", "", "", gain.value, gain.error});
            left = {left.value - gain.value, left.error + gain.error};
        }
        out_.crif.push_back({trade, "Risk_FX", out_.currency, "", "", "", left.value, left.error});
    }

    // The sum over quotes of volatility x derivative, through the numbers that follow from the quotes.
    void add_rate_volatility(std::size_t trade, const calibrations::fitted_numbers& fit) {
        std::vector<report::greek_term> by_number;
        std::vector<std::size_t> numbers;
        for (const greek_row* r : rate_greeks_of_[id(trade)]) {
            const auto at = std::ranges::find(fit.keys, r->key);
            if (at == fit.keys.end()) continue;
            numbers.push_back(static_cast<std::size_t>(at - fit.keys.begin()));
            const double per = greeks::risk_of(in_.state().source->find(r->key)).per;
            by_number.push_back({r, out_.trades[trade].to_base / per});
        }
        if (by_number.empty()) {
            for (const price_row& row : rate_greeks_.rows)
                if (row.trade == id(trade))
                    out_.failures.push_back("trade " + id(trade) + ", volatilities of " + fit.of + ": " +
                                            (row.message.empty() ? "no derivatives" : row.message));
            return;
        }

        // The numbers' moves by vertex, where each volatility rises by its own size.
        std::map<std::size_t, std::vector<double>> moves;
        for (std::size_t q = 0; q < fit.quotes.size(); ++q) {
            for (const share_of_vertex& v : shares_of(fit.expiries[q])) {
                std::vector<double>& at = moves[v.at];
                at.resize(numbers.size());
                for (std::size_t n = 0; n < numbers.size(); ++n)
                    at[n] += v.weight * fit.quotes[q].market * fit.moves[numbers[n]][q];
            }
        }
        bool is_told = false;
        for (const auto& [vertex, by] : moves) {
            std::vector<report::greek_term> terms = by_number;
            for (std::size_t n = 0; n < terms.size(); ++n) terms[n].factor *= by[n];
            const greek_row sum = report::sum_of(terms, {}, rate_greeks_.manifest);
            if (sum.has_failed() && !std::exchange(is_told, true)) {
                out_.failures.push_back("trade " + id(trade) + ", volatilities of " + fit.of + ": " +
                                        sum.message);
                if (sum.kind == error_kind::device) out_.worst = error_kind::device;
            }
            out_.crif.push_back({trade, "Risk_IRVol", fit.of, "", std::string(vertices[vertex].name), "",
                                 sum.value, sum.standard_error, sum.method});
        }
    }

    // Whether lines of volatility tell of the model of rates that has this parameter.
    bool is_told_by_quotes(const std::string& key) const {
        return std::ranges::any_of(
            fits_, [&](const calibrations::fitted_numbers& f) { return key.starts_with(f.of + "."); });
    }

    // Numbers that trades depend on and no file tells of.
    void tell_of_left_out() {
        std::vector<std::string> keys;
        bool has_parameters = false;
        for (const market_number* const n : left_out_) {
            if (n->unit.empty() || key_parts(n->key).what == "fixing") continue;  // facts are no risk
            keys.push_back(n->key);
            has_parameters =
                has_parameters || (n->unit.starts_with("parameter") && !is_told_by_quotes(n->key));
        }
        if (keys.empty()) return;
        constexpr std::size_t most = 4;
        std::string text = keys.front();
        for (std::size_t k = 1; k < std::min(keys.size(), most); ++k) text += ", " + keys[k];
        if (keys.size() > most) text += " and " + std::to_string(keys.size() - most) + " more";
        out_.remarks.push_back(
            "ORE has no factor for numbers that trades depend on, and sensitivity.csv no line: " + text +
            "; the Greeks themselves tell of them");
        if (simm_ && has_parameters)
            out_.remarks.push_back(
                "crif.csv has no volatility risk of models whose parameters these are: SIMM asks for that of "
                "quoted volatilities, which a market keeps that 'tilewalk calibrate' fitted to them");
    }

    const book& book_;
    const market& in_;
    const difference_options& wanted_;
    const run_options& options_;
    const std::optional<simm_data> simm_;
    difference_results out_;
    std::optional<report::ore_factors> factors_;
    std::vector<std::string> currencies_;  // by trade; empty: not known
    shift_list list_;
    std::vector<number_shift> shifts_;                  // in the order of the market's file
    std::vector<std::vector<std::size_t>> numbers_of_;  // by trade: of these, those that it depends on
    std::vector<const market_number*> left_out_;
    std::vector<calibrations::fitted_numbers> fits_;  // of rate models to volatilities
    std::vector<std::vector<std::size_t>> fits_of_;   // by trade
    results rate_greeks_;                             // of the trades that are priced together
    std::map<std::string_view, std::vector<const greek_row*>> rate_greeks_of_;  // by trade
    std::vector<cross> crosses_;
    std::map<std::string, std::size_t> currency_shifts_;
    std::size_t day_ = none;
    std::vector<exercise::saved_policy> policies_;
    std::map<std::pair<std::size_t, std::size_t>, const failed_gain*> messages_;  // by scenario and trade
};

}  // namespace

difference_results differences_as_asked(const resources& with, const book& trades, const market& in,
                                        const difference_options& wanted, const run_options& options) {
    const asked_of_study asked = asked_of(study::files_of_greeks, trades, options);
    return difference_run(asked.trades, in, wanted, asked.options).told(with);
}

valuations_of_differences valuations_of(const book& trades, const market& in,
                                        const difference_options& wanted, const run_options& options) {
    return difference_run(trades, in, wanted, options).valuations();
}

}  // namespace verbs

difference_results valued(const book& trades, const market& in, const results& priced) {
    return verbs::difference_run(trades, in, {}, {}).valued(priced);
}

difference_results differences(const engine& by, const book& trades, const market& in,
                               const difference_options& wanted, const run_options& options) {
    return by.open(trades).differences(in, wanted, options);
}

}  // namespace tilewalk
