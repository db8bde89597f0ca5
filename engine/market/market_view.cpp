// SPDX-License-Identifier: Apache-2.0
#include "engine/market/market_view.h"

#include <algorithm>

#include "tilewalk/error.h"

namespace tilewalk::markets {

namespace {

template <class map>
auto found_in(const map& in, const std::string& name) -> decltype(&in.begin()->second) {
    const auto at = in.find(name);
    return at == in.end() ? nullptr : &at->second;
}

template <class value>
bool same(const value* a, const value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

bool is_alike_fx(const fx_rate& a, const fx_rate& b) {
    return a.base == b.base && a.quote == b.quote && a.rate == b.rate && a.vol == b.vol;
}

bool is_alike_asset(const asset& a, const asset& b) {
    const auto& x = a.scenario_vol;
    const auto& y = b.scenario_vol;
    const bool same_scenarios =
        x.has_value() == y.has_value() &&
        (!x || (x->array == y->array && x->years == y->years && x->shifts == y->shifts));
    return a.name == b.name && a.currency == b.currency && a.spot == b.spot &&
           a.dividend_yield == b.dividend_yield && a.dividends == b.dividends &&
           a.falls_by_dividends == b.falls_by_dividends && a.vol == b.vol && same_scenarios &&
           a.model == b.model;
}

bool same_legs(const std::vector<fx_leg>& a, const std::vector<fx_leg>& b) {
    return std::ranges::equal(a, b, [](const fx_leg& x, const fx_leg& y) {
        return x.inverted == y.inverted && is_alike_fx(*x.pair, *y.pair);
    });
}

bool all_alike(const market_reads& r, const market_state& a, const market_state& b) {
    using std::ranges::all_of;
    return a.as_of == b.as_of && a.day_before == b.day_before &&
           all_of(r.assets,
                  [&](const std::string& n) { return is_alike_asset(a.find_asset(n), b.find_asset(n)); }) &&
           all_of(r.curves,
                  [&](const std::string& n) { return a.discount_curve(n) == b.discount_curve(n); }) &&
           all_of(r.rate_models,
                  [&](const std::string& n) {
                      return same(found_in(a.rate_models, n), found_in(b.rate_models, n));
                  }) &&
           all_of(
               r.fixings,
               [&](const std::string& n) { return same(found_in(a.fixings, n), found_in(b.fixings, n)); }) &&
           all_of(r.factors,
                  [&](const std::string& n) { return a.has_correlations(n) == b.has_correlations(n); }) &&
           all_of(r.own_factors,
                  [&](const std::string& n) {
                      return a.own_factors.contains(n) == b.own_factors.contains(n);
                  }) &&
           all_of(r.fx_legs,
                  [&](const market_reads::pair& p) {
                      return same_legs(a.fx_legs(p.first, p.second), b.fx_legs(p.first, p.second));
                  }) &&
           all_of(r.correlations,
                  [&](const market_reads::pair& p) {
                      return a.correlation(p.first, p.second) == b.correlation(p.first, p.second);
                  }) &&
           all_of(r.stated_correlations,
                  [&](const market_reads::pair& p) {
                      return a.states_correlation(p.first, p.second) ==
                             b.states_correlation(p.first, p.second);
                  }) &&
           all_of(r.written_correlations,
                  [&](const market_reads::pair& p) {
                      return a.correlations.contains(p) == b.correlations.contains(p);
                  }) &&
           (!r.all_fx || std::ranges::equal(a.fx, b.fx, is_alike_fx));
}

}  // namespace

bool market_reads::are_alike(const market_state& a, const market_state& b) const {
    if (&a == &b) return true;
    try {
        return all_alike(*this, a, b);
    } catch (const error&) {
        return false;
    }
}

const curve& market_view::discount_curve(const std::string& currency) const {
    if (reads_) reads_->curves.insert(currency);
    return state_->discount_curve(currency);
}

const asset& market_view::find_asset(const std::string& asset_name) const {
    if (reads_) reads_->assets.insert(asset_name);
    return state_->find_asset(asset_name);
}

std::vector<fx_leg> market_view::fx_legs(const std::string& from, const std::string& to) const {
    if (reads_) reads_->fx_legs.insert({from, to});
    return state_->fx_legs(from, to);
}

double market_view::fx_spot(const std::string& from, const std::string& to) const {
    if (reads_) reads_->fx_legs.insert({from, to});
    return state_->fx_spot(from, to);
}

const std::vector<fx_rate>& market_view::fx() const {
    if (reads_) reads_->all_fx = true;
    return state_->fx;
}

double market_view::correlation(const std::string& a, const std::string& b) const {
    if (reads_) reads_->correlations.insert({a, b});
    return state_->correlation(a, b);
}

bool market_view::states_correlation(const std::string& a, const std::string& b) const {
    if (reads_) reads_->stated_correlations.insert({a, b});
    return state_->states_correlation(a, b);
}

bool market_view::has_correlations(const std::string& factor) const {
    if (reads_) reads_->factors.insert(factor);
    return state_->has_correlations(factor);
}

bool market_view::writes_correlation(const std::pair<std::string, std::string>& pair) const {
    if (reads_) reads_->written_correlations.insert(pair);
    return state_->correlations.contains(pair);
}

bool market_view::is_own_factor(const std::string& factor) const {
    if (reads_) reads_->own_factors.insert(factor);
    return state_->own_factors.contains(factor);
}

const models::rate_model* market_view::rate_model(const std::string& currency) const {
    if (reads_) reads_->rate_models.insert(currency);
    const auto* found = found_in(state_->rate_models, currency);
    return found == nullptr ? nullptr : found->get();
}

const std::vector<model_parameter>& market_view::rate_parameters(const std::string& currency) const {
    return state_->rate_parameters.find(currency)->second;
}

const std::map<dates::date, double>* market_view::fixings(const std::string& of) const {
    if (reads_) reads_->fixings.insert(of);
    return found_in(state_->fixings, of);
}

dates::date market_view::first_day() const {
    return state_->day_before ? state_->day_before->as_of : as_of;
}

std::optional<market_view> market_view::on(dates::date day) const {
    if (day == as_of) return *this;
    const market_state* const before = state_->day_before.get();
    if (before == nullptr || day != before->as_of) return std::nullopt;
    return market_view(*before, reads_);
}

}  // namespace tilewalk::markets
