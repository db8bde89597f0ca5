// SPDX-License-Identifier: Apache-2.0
#include "engine/study/files/ore_factors.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/numbers.h"
#include "engine/plan/measures.h"

namespace tilewalk::report {

key_parts::key_parts(std::string_view key) {
    const std::size_t at = std::min(key.find('@'), key.size());
    const std::size_t point = key.substr(0, at).rfind('.');
    if (point == key.npos) return;
    name = key.substr(0, point);
    what = key.substr(point + 1, at - point - 1);
    if (at == key.size()) return;
    const std::string_view place = key.substr(at + 1);
    const std::size_t comma = std::min(place.find(','), place.size());
    time = place.substr(0, comma);
    if (comma < place.size()) strike = place.substr(comma + 1);
}

std::optional<double> key_parts::years() const {
    if (!time.ends_with('y')) return std::nullopt;
    return config::plain_number(time.substr(0, time.size() - 1));
}

namespace {

constexpr double days_a_year = 365;

// Escapes a slash twice, since ORE's reader removes escapes from the line and again from the factor.
std::string escaped_name(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (c == '/') out += "\\\\";
        out += c;
    }
    return out;
}

// Returns "6M" for "0.5y"; a date as it is; and "1Y" without a time, as a flat curve's only node.
std::string tenor(const key_parts& of) {
    if (of.time.empty()) return "1Y";
    const std::optional<double> years = of.years();
    if (!years) return std::string(of.time);
    const double months = std::round(12 * *years);
    if (std::abs(12 * *years - months) > 1e-9) return std::to_string(std::lround(days_a_year * *years)) + "D";
    const long whole = std::lround(months);
    return whole % 12 == 0 ? std::to_string(whole / 12) + "Y" : std::to_string(whole) + "M";
}

}  // namespace

ore_factors::ore_factors(std::span<const market_number> numbers) {
    std::set<std::string_view> assets;
    for (const market_number& n : numbers)
        if (const key_parts parts(n.key); parts.what == "spot") assets.insert(parts.name);
    for (const market_number& n : numbers) {
        const key_parts parts(n.key);
        const std::string name = escaped_name(parts.name);
        const bool is_rate_a_year = n.unit.starts_with("rate a year");
        const auto add = [&](ore_kind kind, std::string_view type, const std::string& rest, double shift,
                             double moves) {
            const std::string curve = std::string(type) + "/" + name;
            const int index = sizes_[curve]++;
            by_key_[n.key] = {kind, curve, curve + "/" + std::to_string(index) + "/" + rest, shift, moves};
        };
        if (parts.what == "spot") {
            add(ore_kind::equity_spot, "EquitySpot", "spot", 0.01 * n.value, 0.01 * n.value);
        } else if (parts.what == "volatility" && n.unit.starts_with("volatility")) {
            const std::string place =
                tenor(parts) + "/" + (parts.strike.empty() ? "ATM" : std::string(parts.strike));
            if (assets.contains(parts.name))
                add(ore_kind::equity_volatility, "EquityVolatility", place, 0.01, 1);
            else
                add(ore_kind::fx_volatility, "FXVolatility", place, 0.01, 1);
        } else if (parts.what == "dividend_yield" && is_rate_a_year) {
            add(ore_kind::dividend_yield, "DividendYield", tenor(parts), 1e-4, 1);
        } else if (parts.what == "rate" && is_rate_a_year) {
            add(ore_kind::discount_rate, "DiscountCurve", tenor(parts), 1e-4, 1);
        } else if (parts.what == "rate") {
            add(ore_kind::fx_spot, "FXSpot", "spot", 0.01 * n.value, 0.01 * n.value);
        }
    }
    by_key_[std::string(greeks::key_of_day)] = {ore_kind::day, "Theta/", "Theta//0/1D", 1 / days_a_year, 1};
}

const ore_factor* ore_factors::factor_of(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second;
}

bool ore_factors::is_alone(std::string_view key) const {
    const ore_factor* factor = factor_of(key);
    const auto size = factor == nullptr ? sizes_.end() : sizes_.find(factor->curve);
    return size != sizes_.end() && size->second == 1;
}

}  // namespace tilewalk::report
