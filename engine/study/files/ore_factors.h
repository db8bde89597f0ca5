// SPDX-License-Identifier: Apache-2.0
// Numbers of a market as ORE's risk factors: "EquityVolatility/ACME/1/1Y/ATM".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilewalk/market.h"

namespace tilewalk::report {

// A key in its parts: "INDEX.volatility@0.5y,6000" is "INDEX", "volatility", "0.5y" and "6000".
struct key_parts {
    std::string_view name, what, time, strike;

    explicit key_parts(std::string_view key);
    // The time, if it is one in years: 0.5 of "0.5y".
    std::optional<double> years() const;
};

enum class ore_kind {
    equity_spot,
    equity_volatility,
    dividend_yield,
    discount_rate,
    fx_spot,
    fx_volatility,
    day
};

struct ore_factor {
    ore_kind kind = ore_kind::day;
    std::string curve;  // or surface: "EquityVolatility/ACME"
    std::string name;
    double shift =
        0;  // the absolute move that ORE's figures are for: 1 % of a price, 0.01 of a volatility, 1 bp
    double moves = 0;  // the same in the moves that our sensitivities are for
};

class ore_factors {
  public:
    explicit ore_factors(std::span<const market_number> numbers);

    // Null: ORE has no such factor. The day has one, too, by the key that sensitivities to it have.
    const ore_factor* of(std::string_view key) const;
    // No other number belongs to the curve or surface of this one.
    bool is_alone(std::string_view key) const;

  private:
    std::map<std::string, ore_factor, std::less<>> by_key_;
    std::map<std::string, int, std::less<>> sizes_;  // of curves and surfaces
};

}  // namespace tilewalk::report
