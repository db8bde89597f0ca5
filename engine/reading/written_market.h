// SPDX-License-Identifier: Apache-2.0
// A market as it is written, and its market keys: the names of the numbers in it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/ranges.h"
#include "products/dates/date.h"
#include "tilewalk/market.h"

namespace tilewalk::markets {

// A part of a market that is read by itself: a currency, an exchange rate, an asset, all correlations, the
// fixings of one name.
struct market_part {
    enum class section { currencies, fx, assets, correlations, fixings };
    section in = section::assets;
    std::string name;  // empty for correlations

    auto operator<=>(const market_part&) const = default;
};

// A number of a market that has a key.
struct keyed_number {
    std::string key, unit;
    double value = 0;  // as written
    market_part of;
    std::vector<std::size_t> place;  // numbers of the children that lead to it from its part
    double factor_years = 0;  // above 0: a discount factor of that time, which its zero rate stands for
    bool is_added = false;    // a number that is added to a row of scenarios; `place` ends with the row
    range_check in_range = nullptr;  // of the number alone; null: the model of which it is a parameter knows
};

class written_market {
  public:
    written_market(config::node root, dates::date as_of, std::filesystem::path inside,
                   std::filesystem::path folder);

    const config::node& root() const { return root_; }
    const std::filesystem::path& inside() const { return inside_; }
    const std::filesystem::path& folder() const { return folder_; }

    // In the order of the file. Made once, by the first who asks.
    const std::vector<keyed_number>& numbers() const;
    // Times and numbers in a key may be written in any way ("@0.50y", "@1e2"), and the names of a correlation
    // in either order. Throws tilewalk::error (usage) for a key that names nothing or several numbers.
    const keyed_number& find(std::string_view key) const;

    using changes = std::map<std::string, double, std::less<>>;
    // A part with the numbers that `now` has for keys of it; the original where there are none.
    config::node::member part(const market_part& of, const changes& now) const;
    config::node whole(const changes& now) const;

  private:
    void list() const;
    config::node::member part(const market_part& of) const;

    config::node root_;
    dates::date as_of_;
    std::filesystem::path inside_, folder_;
    mutable std::once_flag listed_;
    mutable std::vector<keyed_number> numbers_;
    mutable std::map<std::string, std::vector<std::size_t>, std::less<>> by_key_;
    mutable std::map<market_part, std::vector<std::size_t>> by_part_;
};

}  // namespace tilewalk::markets
