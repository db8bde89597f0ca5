// SPDX-License-Identifier: Apache-2.0
// A market as written, and the keys of its numbers.
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

// Read separately: a currency, exchange rate or asset, all correlations, or the fixings of one name.
struct market_part {
    enum class section { currencies, fx, assets, correlations, fixings };
    section in = section::assets;
    std::string name;  // empty for correlations

    auto operator<=>(const market_part&) const = default;
};

struct keyed_number {
    std::string key, unit;
    double value = 0;  // written value
    market_part of;
    std::vector<std::size_t> place;  // indexes of children on the way from the part to the number
    double factor_years = 0;         // above 0: a discount factor for that time; `value` is its zero rate
    bool is_added = false;           // a shift of a row of scenarios; `place` ends with the row
    range_check in_range = nullptr;  // null: the model checks its parameter
};

class written_market {
  public:
    written_market(config::node root, dates::date as_of, std::filesystem::path inside,
                   std::filesystem::path folder);

    const config::node& root() const { return root_; }
    const std::filesystem::path& inside() const { return inside_; }
    const std::filesystem::path& folder() const { return folder_; }

    // Sorted like the file; made on first use.
    const std::vector<keyed_number>& numbers() const;
    // Accepts any spelling of times and numbers in a key ("@0.50y", "@1e2"), and either order of a
    // correlation's names. Throws tilewalk::error (usage) for a key with no match or several.
    const keyed_number& find(std::string_view key) const;

    using changes = std::map<std::string, double, std::less<>>;
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
