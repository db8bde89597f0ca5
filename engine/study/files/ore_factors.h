// SPDX-License-Identifier: Apache-2.0
// Numbers of a market as ORE's risk factors, such as "EquityVolatility/ACME/1/1Y/ATM".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilewalk/market.h"

namespace tilewalk::report {

// Parts of a key: "INDEX.volatility@0.5y,6000" has "INDEX", "volatility", "0.5y" and "6000".
struct key_parts {
    std::string_view name, what, time, strike;

    explicit key_parts(std::string_view key);
    // Returns 0.5 for "0.5y"; empty for a date or no time.
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
    std::string curve;  // curve or surface: "EquityVolatility/ACME"
    std::string name;
    double shift = 0;  // ORE's shift: 1 % of a price, 0.01 of a volatility, 1 bp
    double moves = 0;  // ORE's shift, in units of our sensitivities' moves
};

class ore_factors {
  public:
    explicit ore_factors(std::span<const market_number> numbers);

    // Null if ORE has no such factor. The next day, key_of_day, has one.
    const ore_factor* factor_of(std::string_view key) const;
    // True if the number is the only one of its curve or surface.
    bool is_alone(std::string_view key) const;

  private:
    std::map<std::string, ore_factor, std::less<>> by_key_;
    std::map<std::string, int, std::less<>> sizes_;  // numbers by curve or surface
};

}  // namespace tilewalk::report
