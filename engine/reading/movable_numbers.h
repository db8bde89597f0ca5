// SPDX-License-Identifier: Apache-2.0
// Finds numbers of a market by key or pattern, fast enough for many scenarios.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "engine/reading/written_market.h"
#include "tilewalk/market.h"

namespace tilewalk::reading {

class movable_numbers {
  public:
    explicit movable_numbers(const market& of);

    std::size_t size() const { return numbers_.size(); }
    const market_number& operator[](std::size_t number) const { return numbers_[number]; }
    // written() returns the number's place in the market's file, years() the time in its key ("USD.rate@1y").
    const markets::keyed_number& written(std::size_t number) const;
    std::optional<double> years(std::size_t number) const;
    dates::date as_of() const { return state_of(market_).as_of; }
    const config::node& root() const { return state_of(market_).source->root(); }

    std::optional<std::size_t> known(std::string_view key) const;
    // The number of a key in any spelling. For an unknown key throws tilewalk::error (input) without a place,
    // naming the nearest key.
    std::size_t find(std::string_view key) const;
    // Returns the number of a key, or all numbers whose keys match a pattern, in the market's order; never
    // empty. Patterns don't match fixings. Throws like find(). The returned reference stays valid.
    const std::vector<std::size_t>& fitting(std::string_view key_or_pattern) const;

  private:
    market market_;
    std::vector<market_number> numbers_;
    std::map<std::string, std::size_t, std::less<>> by_key_;
    mutable std::map<std::string, std::vector<std::size_t>, std::less<>> fitting_;
};

}  // namespace tilewalk::reading
