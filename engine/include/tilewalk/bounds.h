// SPDX-License-Identifier: Apache-2.0
// Limits on inputs. Limits on sizes keep a hostile file cheap; limits on numbers make a typing mistake an
// error instead of a price. docs/books.md lists them all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewalk::bounds {

inline constexpr std::size_t file_bytes = std::size_t{256} << 20;
inline constexpr std::size_t line_bytes = std::size_t{1} << 20;
inline constexpr std::size_t text_bytes = std::size_t{256} << 10;  // a quoted scalar or a block scalar
inline constexpr std::size_t key_bytes = 1024;
inline constexpr std::size_t file_values = 20'000'000;
inline constexpr std::size_t entries = 500'000;      // of a list or mapping at the top level
inline constexpr std::size_t part_values = 200'000;  // YAML values in one of these entries, or outside of all
inline constexpr int nesting = 64;

inline constexpr double money = 1e15;
inline constexpr double number = 1e100;  // numbers of a trade without a unit; squares of payments stay finite
inline constexpr double rate = 1e6;      // rates in a trade; rates in a market are at most market_rate
inline constexpr double years = 200;     // from as_of to the latest date

inline constexpr std::size_t id_bytes = 256;
inline constexpr std::size_t schedule_dates = 100'000;
inline constexpr std::size_t holidays = 100'000;
inline constexpr std::size_t script_bytes = std::size_t{64} << 10;
inline constexpr int script_nesting = 64;
inline constexpr std::size_t steps = 200'000;             // time steps of a trade's paths
inline constexpr std::size_t priced_at_once = 5'000'000;  // trades times markets in one call

inline constexpr double market_rate = 1;
inline constexpr double volatility = 5;
inline constexpr double scenario_volatility = 100;
inline constexpr std::size_t currencies = 500;
inline constexpr std::size_t correlated = 2000;  // assets and rates linked by correlations
inline constexpr std::size_t surface_expiries = 500;
inline constexpr std::size_t surface_strikes = 500;  // strikes of each expiry

inline constexpr std::size_t option_quotes = 20'000;
inline constexpr std::size_t rate_quotes = 5'000;

inline constexpr std::size_t scenarios = 100'000;           // scenarios of a file
inline constexpr std::size_t scenario_changes = 5'000'000;  // changed numbers, over all scenarios
inline constexpr std::size_t scenario_name_bytes = 1024;
inline constexpr int days_of_a_return = 1000;

inline constexpr std::uint64_t results_bytes = std::uint64_t{1} << 30;

}  // namespace tilewalk::bounds
