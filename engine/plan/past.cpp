// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/past.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/wording.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::plan {

std::vector<dates::date> past_world::fixing_days(const std::vector<std::string>& assets, dates::date from,
                                                 dates::date to) const {
    std::set<dates::date> days;
    for (const auto& name : assets) {
        const auto* const found = market_.fixings(name);
        if (found == nullptr) continue;
        for (auto it = found->lower_bound(from); it != found->end() && it->first <= to; ++it) {
            days.insert(it->first);
        }
    }
    return {days.begin(), days.end()};
}

std::optional<past_world::known_fixing> past_world::fixing(const std::string& name) const {
    if (starts_) return std::nullopt;
    const auto* const found = market_.fixings(name);
    if (found == nullptr) return std::nullopt;
    const auto& by_day = *found;
    const auto at = exact_ ? by_day.find(day_) : by_day.upper_bound(day_);
    if (exact_ ? at == by_day.end() : at == by_day.begin()) return std::nullopt;
    const auto& [day, value] = exact_ ? *at : *std::prev(at);
    return known_fixing{value, day == market_.as_of};
}

double past_world::years_from_day(double years) const {
    return years + static_cast<double>(market_.as_of.serial - day_.serial) / 365.0;
}

void past_world::remark(std::string sentence) {
    if (std::ranges::find(remarks_, sentence) == remarks_.end()) remarks_.push_back(std::move(sentence));
}

namespace {

constexpr double trading_days = 252;
constexpr double least_daily_move = 0.002, of_unknown_asset = 0.02, of_exchange_rate = 0.01;

double daily_move_of(const markets::asset& a) {
    return a.vol ? a.vol->instantaneous(0) / std::sqrt(trading_days) : of_unknown_asset;
}

}  // namespace

void past_world::compare_with_spot(const std::string& name, double fixing, double spot, double daily_move) {
    const double far =
        std::min(daily_moves_to_a_far_fixing * std::max(daily_move, least_daily_move), std::log(far_fixing));
    if (std::abs(std::log(fixing / spot)) <= far) return;
    remark("the fixing of " + name + " on as_of is " + config::shown(fixing) + ", far from its spot of " +
           config::shown(spot) + "; the trade takes the fixing");
}

void past_world::saw_touch(const std::string& asset, double level) {
    if (day_ != market_.as_of) return;
    remark("the level " + config::shown(level) + " is touched already, as " + asset + " is at " +
           config::shown(spot(asset).constant()) + " on as_of");
}

program::value past_world::spot(const std::string& asset) {
    if (const auto fixed = fixing(asset)) {
        if (fixed->is_of_today) {
            const markets::asset& now = market_.find_asset(asset);
            compare_with_spot(asset, fixed->value, now.spot, daily_move_of(now));
        }
        return into_.constant(fixed->value);
    }
    if (const auto then = market_.on(day_)) return into_.constant(then->find_asset(asset).spot);
    throw error(error_kind::input,
                "the trade looks at '" + asset + "' on " + to_string(day_) +
                    ", before as_of, and the market has no fixing for it; add it under fixings: " + asset,
                {std::string(market_.name), 0, 0});
}

program::value past_world::fx(const std::string& currency) {
    if (currency == trade_currency_) return into_.constant(1.0);
    if (const auto fixed = fixing(currency + trade_currency_)) {
        if (fixed->is_of_today)
            compare_with_spot(currency + trade_currency_, fixed->value,
                              market_.fx_spot(currency, trade_currency_), of_exchange_rate);
        return into_.constant(fixed->value);
    }
    if (const auto fixed = fixing(trade_currency_ + currency)) {
        if (fixed->is_of_today)
            compare_with_spot(trade_currency_ + currency, fixed->value,
                              market_.fx_spot(trade_currency_, currency), of_exchange_rate);
        return into_.constant(1.0 / fixed->value);
    }
    if (const auto then = market_.on(day_)) return into_.constant(then->fx_spot(currency, trade_currency_));
    throw error(error_kind::input,
                "the trade looks at the exchange rate of " + currency + " in " + trade_currency_ + " on " +
                    to_string(day_) +
                    ", before as_of, and the market has no fixing for it; add it under fixings: " + currency +
                    trade_currency_,
                {std::string(market_.name), 0, 0});
}

// Only today's forwards are known; the forward of an asset in another currency takes a model.
program::value past_world::forward(const std::string& asset, std::span<const double> years,
                                   const std::string& named) {
    const auto seen = market_.on(day_);
    const markets::asset& of = seen ? seen->find_asset(asset) : market_.find_asset(asset);
    if (!seen || of.currency != trade_currency_) {
        throw error(error_kind::input, "the trade asks on " + to_string(day_) +
                                           " for the forward price of '" + asset + "' for " + named +
                                           "; expected a day after as_of" +
                                           (seen ? ", or a trade in " + of.currency : std::string()));
    }
    const markets::curve& curve = seen->discount_curve(of.currency);
    const double until = years_from_day(years[0]);
    if (of.falls_by_dividends && markets::cash_fall(of, curve, 0, until) > 0) {
        throw error(error_kind::input,
                    "the forward price of '" + asset + "' for " + named +
                        " is not known if a cash dividend falls before then; expected dividend_model: "
                        "escrowed, or no cash dividend before then",
                    of.where);
    }
    const markets::affine now = markets::spot_map(of, curve, 0), then = markets::spot_map(of, curve, until);
    return (spot(asset) - now.shift) * (then.scale / now.scale) + then.shift;
}

// Uses Black's formula in today's market; for later days, models::prices_ahead does the same.
program::value past_world::option_value(bool call, const std::string& asset, program::value strike,
                                        std::span<const double> years, const std::string& named) {
    constexpr double least_strike = 1e-30, least_deviation = 1e-12;
    const markets::asset& of = market_.find_asset(asset);
    const char* const why_unknown =
        day_ != market_.as_of            ? "before as_of; expected a day from as_of on"
        : !of.vol || of.model            ? "as_of; expected a later day, or an asset with a volatility"
        : of.currency != trade_currency_ ? "as_of; expected a later day, or an asset of the trade's currency"
        : market_.rate_model(trade_currency_) != nullptr
            ? "as_of; expected a later day, or rates that do not move"
            : nullptr;
    if (why_unknown != nullptr) {
        throw error(error_kind::input, "the trade asks what an option on '" + asset + "' for " + named +
                                           " is worth on " + to_string(day_) + ", " + why_unknown);
    }
    const markets::curve& curve = market_.discount_curve(trade_currency_);
    const double until = years_from_day(years[0]);
    const program::value shift = into_.constant(markets::spot_map(of, curve, until).shift);
    const program::value grown = forward(asset, years, named) - shift;
    const program::value over_shift = strike - shift, level = max(over_shift, least_strike);
    const program::value deviation = into_.constant(
        std::max(kernels::sqrt(std::max(of.vol->total_variance(until), 0.0)), least_deviation));
    const program::value discount = into_.constant(curve.discount(until));
    const program::value d1 = log(grown / level) / deviation + 0.5 * deviation, d2 = d1 - deviation;
    if (!call) return discount * (level * norm_cdf(-d2) - grown * norm_cdf(-d1));
    return discount * (grown * norm_cdf(d1) - level * norm_cdf(d2) + (level - over_shift));
}

program::value past_world::bond(const std::string& currency, std::span<const double> years,
                                const std::string& named) {
    if (const auto then = market_.on(day_)) {
        const double until = std::max(years_from_day(years[0]), 0.0);
        return into_.constant(then->discount_curve(currency).discount(until));
    }
    throw error(error_kind::input,
                "the trade asks on " + to_string(day_) + ", before as_of, for a rate of " + currency +
                    " until " + named +
                    ", and the market has no past rates; expected dates from as_of on: leave out the periods "
                    "whose rate has been fixed, and write what they still pay as a trade with a fixed amount",
                {std::string(market_.name), 0, 0});
}

double past_world::fx_today(const std::string& currency) const {
    return market_.fx_spot(currency, trade_currency_);
}

double past_world::discount(const std::string& currency, double years) const {
    return market_.discount_curve(currency).discount(years);
}

namespace {
[[noreturn]] void no_bridge() {
    throw error(error_kind::internal, "a bridge was asked for in the past");
}
}  // namespace

language::bridge past_world::path_between(const std::string&) {
    no_bridge();
}
program::value past_world::to_coordinate(const std::string&, program::value, language::interval_end) {
    no_bridge();
}
program::value past_world::from_coordinate(const std::string&, program::value) {
    no_bridge();
}
program::value past_world::mean_price(const std::string&, double, program::value, program::value) {
    no_bridge();
}
program::value past_world::mean_logarithm(const std::string&, const language::bridge&) {
    no_bridge();
}
program::value past_world::variance_of_mean(const std::string&, const language::bridge&, language::averaged) {
    no_bridge();
}

}  // namespace tilewalk::plan
