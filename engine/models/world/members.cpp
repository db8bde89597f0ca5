// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/members.h"

#include <algorithm>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::models {

members::members(const world_needs& from)
    : market_(from.market),
      trade_currency_(from.trade_currency),
      domestic_(market_.discount_curve(trade_currency_)) {
    add_rates(trade_currency_);
    for (const auto& name : from.rate_currencies) add_rates(name);
    for (const auto& name : from.assets) add_asset(name);
    for (const auto& name : from.currencies) {
        if (name != trade_currency_) add_currency(name);
    }
    add_sources();
    look_up_correlations();
}

const moving_rates* members::find_rates(const std::string& currency) const {
    const auto at = std::ranges::find(rates_, currency, &moving_rates::currency);
    return at == rates_.end() ? nullptr : &*at;
}

const factor& members::find(const std::string& name, bool is_asset) const {
    for (const factor& f : factors_) {
        if (f.is_asset() == is_asset && f.name == name) return f;
    }
    throw error(error_kind::internal, "the model was not told about '" + name + "'");
}

markets::affine members::map_of(const factor& f, double years, bool before_dividend) const {
    if (f.is_asset()) return markets::spot_map(*f.asset, *f.carry, years, before_dividend);
    return {f.start * f.carry->discount(years) / domestic_.discount(years), 0};
}

const moving_rates* members::add_rates(const std::string& currency) {
    if (const moving_rates* const known = find_rates(currency)) return known;
    const rate_model* const moved_by = market_.rate_model(currency);
    if (moved_by == nullptr) return nullptr;
    moving_rates r;
    r.number = rates_.size();
    r.currency = currency;
    r.model = moved_by;
    r.walk = r.model->start(market_.discount_curve(currency));
    if (currency != trade_currency_) {
        r.quanto = drivers_of_rate(
            currency, "the trade depends on the moving rates of '" + currency + "' and is worth");
    }
    rates_.push_back(std::move(r));
    return &rates_.back();
}

void members::add_asset(const std::string& name) {
    const markets::asset& a = market_.find_asset(name);
    factor f;
    f.name = f.stream = name;
    f.asset = &a;
    f.carry = &market_.discount_curve(a.currency);
    f.walk = model_of(a).start(a, *f.carry);
    f.others = model_of(a).own_factors();
    f.moves_with = {{name, &f.walk->scale()}};
    const bool pays_cash =
        std::any_of(a.dividends.begin(), a.dividends.end(), [](const auto& d) { return !d.proportional; });
    f.falls = pays_cash && a.falls_by_dividends;
    f.has_cash_dividends = pays_cash && !f.falls;
    f.rates = add_rates(a.currency);
    if (f.rates && pays_cash) {
        throw error(
            error_kind::input,
            "asset '" + name + "' pays cash dividends, and the rates of " + a.currency +
                ", which discount them, move by a model; expected proportional dividends or a dividend_yield",
            a.where);
    }
    if (a.currency != trade_currency_) {
        f.quanto = drivers_of_rate(a.currency, "asset '" + name + "' is paid in");
    }
    add_factor(std::move(f));
}

void members::add_currency(const std::string& name) {
    factor f;
    f.name = name;
    f.stream = stream_of_exchange(name, trade_currency_);
    f.carry = &market_.discount_curve(name);
    f.moves_with = drivers_of_rate(name, "the trade pays in or asks for '" + name + "' and is worth");
    f.start = market_.fx_spot(name, trade_currency_);
    f.rates = add_rates(name);
    add_factor(std::move(f));
}

void members::add_factor(factor f) {
    f.number = factors_.size();
    f.sources_of_others.resize(f.others.size());
    factors_.push_back(std::move(f));
}

drivers members::drivers_of_rate(const std::string& foreign, const std::string& why) const {
    drivers out;
    for (const auto& [pair, inverted] : market_.fx_legs(foreign, trade_currency_)) {
        if (!pair->vol) {
            throw error(error_kind::input,
                        why + " " + trade_currency_ + ": the pair " + pair->base + pair->quote +
                            " must have a volatility",
                        pair->where);
        }
        out.push_back({pair->base + pair->quote, &*pair->vol, inverted ? -1.0 : 1.0});
    }
    return out;
}

void members::add_sources() {
    for (const factor& f : factors_) sources_.push_back({&f, true, &f.quanto, f.moves_with, f.stream});
    for (factor& f : factors_) {
        for (std::size_t k = 0; k < f.others.size(); ++k) {
            const std::string name = f.name + "." + f.others[k].name;
            if (!market_.has_correlations(name)) continue;
            f.sources_of_others[k] = sources_.size();
            sources_.push_back({&f, false, &f.quanto, {{name, &one_}}, f.stream});
        }
    }
    for (moving_rates& r : rates_) {
        r.first_source = sources_.size();
        const std::vector<own_factor> names = r.model->factors();
        for (const auto& sum : r.walk->noises()) {
            drivers noise;
            for (const rate_noise& n : sum)
                noise.push_back({r.currency + "." + names[n.factor].name, n.scale, 1, n.by});
            sources_.push_back({nullptr, false, &r.quanto, std::move(noise), r.stream()});
        }
    }
}

void members::look_up_correlations() {
    std::vector<drivers*> all;
    for (factor& f : factors_) {
        all.push_back(&f.moves_with);
        all.push_back(&f.quanto);
    }
    for (moving_rates& r : rates_) all.push_back(&r.quanto);
    for (source& s : sources_) all.push_back(&s.moves_with);
    correlations_ = driver_correlations(market_, all);
}

}  // namespace tilewalk::models
