// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/random_market.h"

#include <cmath>

#include <fmt/format.h>

namespace tilewalk::verify {

random_market::random_market(dice& d, bool may_bend) {
    spot = std::exp(d.between(std::log(0.01), std::log(10000.0)));
    yield = d.between(0, 0.05);
    years = d.between(0.1, 4);
    change = years * d.between(0.2, 0.8);
    flat = !may_bend || d.coin();
    first_rate = d.between(-0.01, 0.09);
    last_rate = flat ? first_rate : d.between(-0.01, 0.09);
    first_volatility = d.between(0.08, 0.5);
    last_volatility = flat ? first_volatility : first_volatility * d.between(0.9, 1.2);
}

double random_market::log_discount(double t) const {
    if (t < change) return -first_rate * t;
    return -first_rate * change + part(t) * (first_rate * change - last_rate * years);
}

double random_market::discount(double t) const {
    return std::exp(log_discount(t));
}

double random_market::variance(double t) const {
    if (t < change) return first_volatility * first_volatility * t;
    const double first = first_volatility * first_volatility * change;
    return first + part(t) * (last_volatility * last_volatility * years - first);
}

double random_market::forward(double t) const {
    return spot * std::exp(-log_discount(t) - yield * t);
}

truth::move random_market::step(double from, double to) const {
    return {std::log(forward(to) / forward(from)), variance(to) - variance(from),
            discount(to) / discount(from)};
}

double random_market::strike(dice& d) const {
    return forward(years) * std::exp(d.between(-1, 1) * std::sqrt(variance(years)));
}

std::string random_market::text(const std::string& more_assets, const std::string& rest) const {
    const std::string rates =
        flat ? fmt::format("rate: {}", first_rate)
             : fmt::format("zero_rates: {{{}: {}, {}: {}}}", change, first_rate, years, last_rate);
    const std::string volatility =
        flat ? fmt::format("{}", first_volatility)
             : fmt::format("{{{}: {}, {}: {}}}", change, first_volatility, years, last_volatility);
    return fmt::format(
        "market:\n  as_of: 2026-01-15\n  currencies: {{USD: {{{}}}, EUR: {{rate: 0.01}}}}\n"
        "  assets:\n    A: {{currency: USD, spot: {}, dividend_yield: {}, volatility: {}}}\n{}{}",
        rates, spot, yield, volatility, more_assets, rest);
}

std::string one_trade(const std::string& terms) {
    return "trades:\n  - {id: t, underlying: A, " + terms + "}\n";
}

const char* name_of(truth::side option) {
    return option == truth::side::call ? "call" : "put";
}

truth::side any_side(dice& d) {
    return d.coin() ? truth::side::call : truth::side::put;
}

}  // namespace tilewalk::verify
