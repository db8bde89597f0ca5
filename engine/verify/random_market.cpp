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

std::vector<truth::move> random_market::steps(const std::vector<double>& dates) const {
    std::vector<truth::move> out;
    for (std::size_t i = 1; i < dates.size(); ++i) out.push_back(step(dates[i - 1], dates[i]));
    return out;
}

std::vector<truth::move> random_market::steps(std::size_t count) const {
    const double each = years / static_cast<double>(count);
    std::vector<double> dates;
    for (std::size_t i = 0; i <= count; ++i) dates.push_back(each * static_cast<double>(i));
    return steps(dates);
}

random_market random_market::moved(const market_move& by) const {
    random_market out = *this;
    out.raised *= by.forwards;
    out.spot = spot * by.forwards + by.shift_of("A.spot");
    out.yield += by.shift_of("A.dividend_yield");
    if (flat) {
        out.first_rate = out.last_rate = first_rate + by.shift_of("USD.rate");
        out.first_volatility = out.last_volatility = first_volatility + by.shift_of("A.volatility");
        return out;
    }
    out.first_rate += by.shift_of(pillar("USD.rate", change));
    out.last_rate += by.shift_of(pillar("USD.rate", years));
    out.first_volatility += by.shift_of(pillar("A.volatility", change));
    out.last_volatility += by.shift_of(pillar("A.volatility", years));
    return out;
}

movable_numbers random_market::numbers() const {
    movable_numbers out{{"A.spot", step_of_size * spot}, {"A.dividend_yield", step_of_rate}};
    if (flat) {
        out.insert(out.end(), {{"USD.rate", step_of_rate}, {"A.volatility", step_of_volatility}});
        return out;
    }
    for (const double t : {change, years}) {
        out.push_back({pillar("USD.rate", t), step_of_rate});
        out.push_back({pillar("A.volatility", t), step_of_volatility});
    }
    return out;
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

std::string pillar(std::string_view of, double years) {
    return fmt::format("{}@{}y", of, years);
}

std::string one_trade(const std::string& terms) {
    return "trades:\n  - {id: t, underlying: A, " + terms + "}\n";
}

std::vector<double> dates_between(double first, double last, int count) {
    const double each = (last - first) / count;
    std::vector<double> out;
    for (int i = 0; i < count; ++i) out.push_back(first + each * i);
    out.push_back(last);
    return out;
}

const char* name_of(truth::side option) {
    return option == truth::side::call ? "call" : "put";
}

truth::side any_side(dice& d) {
    return d.coin() ? truth::side::call : truth::side::put;
}

}  // namespace tilewalk::verify
