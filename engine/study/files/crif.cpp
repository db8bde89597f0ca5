// SPDX-License-Identifier: Apache-2.0
#include "engine/study/files/crif.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/calibration/quoted_models.h"
#include "engine/market/market_state.h"
#include "engine/plan/measures.h"
#include "engine/reading/simm_reader.h"
#include "engine/study/greek_sums.h"
#include "products/dates/date.h"

namespace tilewalk::studies {

namespace {

using report::key_parts;
using report::ore_kind;

// SIMM's shift of a currency against the currency of calculation: 1 %.
constexpr double fx_move = 0.01;

constexpr std::array vertices{"2w", "1m", "3m", "6m", "1y", "2y", "3y", "5y", "10y", "15y", "20y", "30y"};
constexpr std::array years_of_vertices{14.0 / 365, 1.0 / 12, 0.25, 0.5,  1.0,  2.0,
                                       3.0,        5.0,      10.0, 15.0, 20.0, 30.0};

struct share_of_vertex {
    std::size_t at;
    double weight;
};
// Splits a time linearly between the vertices on both sides; the first or last vertex takes all beyond it.
std::vector<share_of_vertex> shares_of(double years) {
    const auto above = std::ranges::lower_bound(years_of_vertices, years);
    const auto at = static_cast<std::size_t>(above - years_of_vertices.begin());
    if (at == 0) return {{0, 1}};
    if (at == vertices.size()) return {{vertices.size() - 1, 1}};
    const double low = years_of_vertices[at - 1], high = years_of_vertices[at];
    const double weight = (years - low) / (high - low);
    if (weight == 1) return {{at, 1}};
    return {{at - 1, 1 - weight}, {at, weight}};
}

// Returns SIMM's volatility group of a currency's rates: 1 regular, 2 low, 3 high.
std::string bucket_of(std::string_view currency) {
    static const std::set<std::string_view> regular{"USD", "EUR", "GBP", "CHF", "AUD", "NZD", "CAD",
                                                    "SEK", "NOK", "DKK", "HKD", "KRW", "SGD", "TWD"};
    return regular.contains(currency) ? "1" : currency == "JPY" ? "2" : "3";
}

const simm_data::name& name_in_simm(const difference_request& of, const number_shift& s, std::size_t trade) {
    return markets::simm_name(*of.simm, std::string(key_parts(s.number->key).name), of.id(trade));
}

void refuse_unknown_names(const difference_request& of, const book_shifts& shifts) {
    for (std::size_t i = 0; i < shifts.numbers_of.size(); ++i)
        for (const std::size_t k : shifts.numbers_of[i]) {
            const ore_kind kind = shifts.numbers[k].kind;
            if (kind == ore_kind::equity_spot || kind == ore_kind::equity_volatility)
                name_in_simm(of, shifts.numbers[k], i);
        }
}

// The price of a currency in another: a market's exchange rate, or the spot of such an asset.
struct price_of_currency {
    std::string key, base, quote;
    double value = 0;
};
std::vector<price_of_currency> prices_of_currencies(const difference_request& of) {
    std::vector<price_of_currency> out;
    for (const markets::fx_rate& pair : state_of(of.in).fx)
        out.push_back({pair.base + pair.quote + ".rate", pair.base, pair.quote, pair.rate});
    for (const auto& [name, asset] : state_of(of.in).assets)
        if (const std::string base = of.currency_priced_by(name); !base.empty())
            out.push_back({name + ".spot", base, asset.currency, asset.spot});
    return out;
}

// Adds for each currency a scenario in which it rises against that of calculation, in all its rates.
std::map<std::string, std::size_t> shift_currencies(const difference_request& of, book_shifts& beside) {
    const auto is_shifted = [&](const std::string& key) {
        return std::ranges::any_of(beside.numbers,
                                   [&](const number_shift& s) { return s.number->key == key; });
    };
    const std::vector<price_of_currency> prices = prices_of_currencies(of);
    std::set<std::string> wanted;
    for (const price_of_currency& p : prices)
        if (is_shifted(p.key)) wanted.insert({p.base, p.quote});
    wanted.erase(of.simm->currency);
    std::map<std::string, std::size_t> out;
    for (const std::string& currency : wanted) {
        std::vector<market_change> changes;
        for (const price_of_currency& p : prices) {
            if (p.base == currency)
                changes.push_back({p.key, fx_move * p.value});
            else if (p.quote == currency)
                changes.push_back({p.key, p.value / (1 + fx_move) - p.value});
        }
        out[currency] = beside.add(std::move(changes));
    }
    return out;
}

std::vector<calibrations::fitted_numbers> find_fits(const difference_request& of, const book_shifts& beside,
                                                    difference_results& to) {
    const bool is_asked = std::ranges::any_of(beside.left_out, [&](const market_number* n) {
        return n->unit.starts_with("parameter") &&
               state_of(of.in).currencies.contains(n->key.substr(0, n->key.find('.')));
    });
    if (!is_asked || !calibrations::keeps_quotes(of.in)) return {};
    try {
        std::vector<calibrations::fitted_numbers> out =
            calibrations::follow_quotes(of.in, of.options.cancel, calibrations::fitted_part::currency);
        std::erase_if(out, [](const calibrations::fitted_numbers& f) { return !f.has_volatilities(); });
        return out;
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        to.failures.push_back(std::string("volatilities that rate models are fitted to: ") + e.what());
        return {};
    }
}

struct crif_key {
    std::string_view risk_type;
    std::string qualifier, bucket;
    std::optional<std::size_t> at{};  // place among vertices
    auto operator<=>(const crif_key&) const = default;
};

class crif_sums {
  public:
    crif_sums(const crif_inputs& from, std::size_t trade, double years_to_last_day)
        : of_(from.of), gains_(from.gains.base), trade_(trade), years_to_last_day_(years_to_last_day) {}

    void add(const number_shift& s) {
        const key_parts parts(s.number->key);
        const share_of_gain gain = gains_.move(trade_, s.up, s.down);
        const auto add_by_time = [&](std::string_view risk_type, const std::string& qualifier,
                                     const std::string& bucket) {
            for (const share_of_vertex& v : shares_of(years_of(parts)))
                sums[{risk_type, qualifier, bucket, v.at}].push_back({gain.scenario, gain.weight * v.weight});
        };
        const std::string name(parts.name), priced = of_.currency_priced_by(name);
        const bool is_fx = s.kind == ore_kind::fx_spot || s.kind == ore_kind::fx_volatility;
        const std::string base = is_fx ? name.substr(0, 3) : priced;
        const auto quote = [&] { return is_fx ? name.substr(3) : state_of(of_.in).assets.at(name).currency; };
        switch (s.kind) {
            case ore_kind::equity_spot:
            case ore_kind::fx_spot:
                if (base.empty()) {
                    const simm_data::name& simm = name_in_simm(of_, s, trade_);
                    sums[{"Risk_Equity", simm.qualifier, simm.bucket}].push_back(gain);
                } else {
                    currencies.insert({base, quote()});
                }
                return;
            case ore_kind::equity_volatility:
            case ore_kind::fx_volatility:
                if (base.empty()) {
                    const simm_data::name& simm = name_in_simm(of_, s, trade_);
                    add_by_time("Risk_EquityVol", simm.qualifier, simm.bucket);
                } else {
                    add_by_time("Risk_FXVol", std::min(base, quote()) + std::max(base, quote()), "");
                }
                return;
            case ore_kind::discount_rate:
                return add_by_time("Risk_IRCurve", name, bucket_of(name));
            case ore_kind::dividend_yield:
                // If the asset is a currency, its dividend yield is that currency's interest rate.
                if (!base.empty()) add_by_time("Risk_IRCurve", base, bucket_of(base));
                return;
            case ore_kind::day:
                return;
        }
    }

    std::map<crif_key, std::vector<share_of_gain>> sums{};
    std::set<std::string> currencies{};  // currencies whose rates move the value

  private:
    // A number without a time, such as a flat rate, counts at the trade's last day.
    double years_of(const key_parts& key) const {
        if (const auto years = key.years()) return *years;
        if (const auto day = dates::parse_date(key.time))
            return dates::time_point{*day}.years(state_of(of_.in).as_of);
        return years_to_last_day_;
    }

    const difference_request& of_;
    const sums_of_gains& gains_;
    const std::size_t trade_;
    const double years_to_last_day_;
};

// Adds lines of currencies. The rest of the value moves with the currency of calculation.
void add_currencies(const crif_inputs& from, std::size_t trade, std::set<std::string> currencies,
                    difference_results& to) {
    const double rate = to.trades[trade].to_base;
    const price_row& row = to.values.rows[trade];
    double left = fx_move * rate * row.value_in_totals(), error = fx_move * rate * row.error_in_totals();
    currencies.erase(to.currency);
    for (const std::string& currency : currencies) {
        const std::vector<share_of_gain> shift{{from.simm.currencies.at(currency)}};
        const auto [gain, error_of_gain] = from.gains.base.gain_of(trade, shift);
        if (!is_figure(gain)) from.gains.add_failure(trade, currency + " against " + to.currency, shift, to);
        to.crif.push_back({trade, "Risk_FX", currency, "", "", "", gain, error_of_gain});
        left -= gain;
        error += error_of_gain;
    }
    to.crif.push_back({trade, "Risk_FX", to.currency, "", "", "", left, error});
}

// Returns by vertex how the fit's numbers move if each quoted volatility rises by its own size.
std::map<std::size_t, std::vector<double>> moves_by_vertex(const calibrations::fitted_numbers& fit,
                                                           const std::vector<std::size_t>& numbers) {
    std::map<std::size_t, std::vector<double>> out;
    for (std::size_t q = 0; q < fit.quotes.size(); ++q) {
        for (const share_of_vertex& v : shares_of(fit.expiries[q])) {
            std::vector<double>& at = out[v.at];
            at.resize(numbers.size());
            for (std::size_t n = 0; n < numbers.size(); ++n)
                at[n] += v.weight * fit.quotes[q].market * fit.moves[numbers[n]][q];
        }
    }
    return out;
}

// Adds volatility times derivative, summed by vertex. The derivative goes through the fitted numbers.
void add_rate_volatility(const crif_inputs& from, std::size_t trade, const calibrations::fitted_numbers& fit,
                         difference_results& to) {
    const std::string& id = from.of.id(trade);
    const auto fail = [&](const std::string& why) {
        to.failures.push_back("trade " + id + ", volatilities of " + fit.of + ": " + why);
    };
    std::vector<report::greek_term> by_number;
    std::vector<std::size_t> numbers;
    const auto derivatives = from.greeks.of.find(id);
    if (derivatives != from.greeks.of.end()) {
        for (const greek_row* r : derivatives->second) {
            const auto at = std::ranges::find(fit.keys, r->key);
            if (at == fit.keys.end()) continue;
            numbers.push_back(static_cast<std::size_t>(at - fit.keys.begin()));
            const double per = greeks::risk_of(state_of(from.of.in).source->find(r->key)).per;
            by_number.push_back({r, to.trades[trade].to_base / per});
        }
    }
    if (by_number.empty()) {
        for (const price_row& row : from.greeks.found.rows)
            if (row.trade == id)
                fail(row.message.empty() ? "the trade has no derivatives to the numbers fitted to them"
                                         : row.message);
        return;
    }
    bool is_told = false;
    for (const auto& [at, moves] : moves_by_vertex(fit, numbers)) {
        std::vector<report::greek_term> terms = by_number;
        for (std::size_t n = 0; n < terms.size(); ++n) terms[n].factor *= moves[n];
        const greek_row sum = report::sum_of(terms, {}, from.greeks.found.manifest);
        if (sum.has_failed() && !std::exchange(is_told, true)) {
            fail(sum.message);
            if (sum.kind == error_kind::device) to.worst = error_kind::device;
        }
        to.crif.push_back({trade, "Risk_IRVol", fit.of, "", std::string(vertices[at]), "", sum.value,
                           sum.standard_error, sum.method});
    }
}

}  // namespace

simm_shifts::simm_shifts(const difference_request& of, const keys_by_trade& keys, book_shifts& beside,
                         difference_results& to) {
    refuse_unknown_names(of, beside);
    currencies = shift_currencies(of, beside);
    fits = find_fits(of, beside, to);
    for (const std::set<std::string>& of_trade : keys) {
        std::vector<std::size_t>& of_these = fits_of.emplace_back();
        for (std::size_t f = 0; f < fits.size(); ++f)
            if (std::ranges::any_of(fits[f].keys, [&](const std::string& k) { return of_trade.contains(k); }))
                of_these.push_back(f);
    }
}

bool simm_shifts::tells_of(const std::string& key) const {
    return std::ranges::any_of(
        fits, [&](const calibrations::fitted_numbers& f) { return key.starts_with(f.of + "."); });
}

greek_options simm_shifts::by_numbers_of_fits() const {
    std::set<std::string> keys;
    for (const calibrations::fitted_numbers& f : fits) keys.insert(f.keys.begin(), f.keys.end());
    return {.wanted = {keys.begin(), keys.end()}};
}

rate_greeks::rate_greeks(results all) : found(std::move(all)) {
    for (const greek_row& r : found.greeks) of[r.trade].push_back(&r);
}

void add_crif(const crif_inputs& from, std::size_t trade, difference_results& to) {
    crif_sums lines(from, trade, to.trades[trade].years_to_last_day);
    for (const std::size_t k : from.shifts.numbers_of[trade]) lines.add(from.shifts.numbers[k]);
    for (const auto& [key, shares] : lines.sums) {
        const auto [sum, error] = from.gains.base.gain_of(trade, shares);
        to.crif.push_back({trade, key.risk_type, key.qualifier, key.bucket,
                           key.at ? std::string(vertices[*key.at]) : "",
                           key.risk_type == "Risk_IRCurve" ? "OIS" : "", sum, error});
    }
    for (const std::size_t f : from.simm.fits_of[trade])
        add_rate_volatility(from, trade, from.simm.fits[f], to);
    add_currencies(from, trade, std::move(lines.currencies), to);
}

}  // namespace tilewalk::studies
