// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/math.h"
#include "products/dates/date.h"

namespace tilewalk::models {

namespace {

using markets::affine;
using markets::market_view;

double quanto_forward(const members& of, const factor& f, double years) {
    const auto drifted = [&](double from) {
        return kernels::exp(-of.covariance(f.moves_with, f.quanto, from, years));
    };
    const affine map = of.map_of(f, years);
    double left = drifted(0);
    if (f.falls) {
        double last = 0;
        for (const markets::dividend& d : f.asset->dividends) {
            if (d.years > years + dates::same_time_years) break;
            left -= markets::cash_fall(*f.asset, *f.carry, last, d.years) * drifted(d.years);
            last = d.years;
        }
    }
    return map.scale * left + map.shift;
}

asset_numbers numbers_of(const members& of, const factor& f, std::span<const double> years) {
    const markets::asset& a = *f.asset;
    asset_numbers out;
    out.name = f.name;
    out.currency = a.currency;
    out.model = model_of(a).describe();
    out.spot = a.spot;
    out.parameters = a.model_parameters;
    out.falls_by_dividends = f.falls;
    for (const markets::dividend& d : a.dividends) {
        if (years.empty() || d.years > years.back() + dates::same_time_years) break;
        out.dividends.push_back({d.years, d.amount, d.proportional});
    }
    const bool rates_move = f.rates || of.domestic_rates();
    const bool has_known_mean = f.walk->why_not_lognormal().empty() && !rates_move;
    for (const double t : years) {
        out.forwards.push_back(markets::forward(a, *f.carry, t));
        if (!f.quanto.empty())
            out.quanto_forwards.push_back(has_known_mean ? std::optional(quanto_forward(of, f, t))
                                                         : std::nullopt);
        std::optional<double> implied;
        if (!f.rates && t > 0)
            implied =
                a.vol ? kernels::sqrt(a.vol->total_variance(t) / t) : model_of(a).implied_volatility(t, 0);
        out.volatilities.push_back(implied);
    }
    return out;
}

void add_currency(const members& of, const std::string& name, std::span<const double> years,
                  std::vector<currency_numbers>& into) {
    if (std::ranges::find(into, name, &currency_numbers::name) != into.end()) return;
    currency_numbers c;
    c.name = name;
    const markets::curve& today = of.market().discount_curve(name);
    for (const double t : years) c.discounts.push_back(today.discount(t));
    if (const moving_rates* const r = of.find_rates(name)) {
        c.model = r->model->describe();
        c.parameters = of.market().rate_parameters(name);
    }
    into.push_back(std::move(c));
}

void add_exchange_rates(const market_view& market, const drivers& some, std::span<const double> years,
                        std::vector<exchange_rate_numbers>& into) {
    for (const driver& d : some) {
        const auto pair = std::ranges::find_if(
            market.fx(), [&](const markets::fx_rate& r) { return r.base + r.quote == d.name; });
        const bool is_known = std::ranges::find(into, d.name, &exchange_rate_numbers::pair) != into.end();
        if (pair == market.fx().end() || is_known) continue;
        exchange_rate_numbers x{d.name, pair->rate, {}, {}};
        const markets::curve &base = market.discount_curve(pair->base),
                             &quote = market.discount_curve(pair->quote);
        for (const double t : years) {
            x.forwards.push_back(pair->rate * base.discount(t) / quote.discount(t));
            x.volatilities.push_back(kernels::sqrt(d.vol->total_variance(t) / t));
        }
        into.push_back(std::move(x));
    }
}

}  // namespace

std::vector<std::string> descriptions(const members& of) {
    std::vector<std::string> out;
    for (const factor& f : of.factors()) {
        if (!f.is_asset()) continue;
        out.push_back(f.name + ": " + model_of(*f.asset).describe() + f.walk->detail());
        for (const std::string& remark : model_of(*f.asset).remarks()) out.push_back(f.name + ": " + remark);
        for (const std::string& remark : f.walk->remarks()) out.push_back(f.name + ": " + remark);
    }
    for (const moving_rates& r : of.rates()) {
        out.push_back(r.currency + ": " + r.model->describe());
        for (const std::string& remark : r.model->remarks()) out.push_back(r.currency + ": " + remark);
    }
    return out;
}

std::vector<correlation_taken> correlations_taken(const members& of) {
    const market_view& market = of.market();
    std::map<std::pair<std::string, std::string>, correlation_taken> taken;
    const auto add = [&](const drivers& some, const drivers& others) {
        for (const driver& a : some) {
            for (const driver& b : others) {
                const auto pair = std::pair(std::min(a.name, b.name), std::max(a.name, b.name));
                const bool follows = (market.is_own_factor(a.name) || market.is_own_factor(b.name)) &&
                                     !market.writes_correlation(pair);
                if (a.name == b.name || follows || taken.contains(pair)) continue;
                taken[pair] = {pair.first, pair.second, market.correlation(a.name, b.name),
                               market.states_correlation(a.name, b.name)};
            }
        }
    };
    for (const source& s : of.sources()) {
        for (const source& other : of.sources()) {
            add(s.moves_with, other.moves_with);
            if (&other == &s) break;
        }
        add(s.moves_with, *s.quanto);
    }
    std::vector<correlation_taken> out;
    for (auto& [pair, correlation] : taken) out.push_back(std::move(correlation));
    return out;
}

world::market_numbers numbers_at(const members& of, std::span<const double> years) {
    world::market_numbers out;
    const auto add_rates_of = [&](const drivers& some) {
        add_exchange_rates(of.market(), some, years, out.exchange_rates);
    };
    add_currency(of, of.trade_currency(), years, out.currencies);
    for (const factor& f : of.factors()) {
        add_currency(of, f.is_asset() ? f.asset->currency : f.name, years, out.currencies);
        if (f.is_asset()) {
            out.assets.push_back(numbers_of(of, f, years));
        } else {
            add_rates_of(f.moves_with);
        }
        add_rates_of(f.quanto);
    }
    for (const moving_rates& r : of.rates()) {
        add_currency(of, r.currency, years, out.currencies);
        add_rates_of(r.quanto);
    }
    return out;
}

}  // namespace tilewalk::models
