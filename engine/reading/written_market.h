// SPDX-License-Identifier: Apache-2.0
// A market as written, and the keys of its numbers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

// A number that is another than the text says.
struct changed_number {
    const keyed_number* which = nullptr;
    double value = 0;
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
    std::map<market_part, std::vector<changed_number>> by_part(const changes& now) const;
    // The text with the numbers that `now` has.
    config::node whole(const changes& now) const;

  private:
    friend class lent_part;
    // A part with its keyed numbers as numbers, and where they stand in it.
    struct copy {
        config::node::member of;
        std::vector<config::node*> numbers;
    };

    void list() const;
    config::node::member part(const market_part& of) const;
    std::span<const keyed_number> numbers_of(const market_part& of) const;
    std::unique_ptr<copy> lend(const market_part& of) const;
    void take_back(const market_part& of, std::unique_ptr<copy> lent) const;

    config::node root_;
    dates::date as_of_;
    std::filesystem::path inside_, folder_;
    mutable std::once_flag listed_;
    mutable std::vector<keyed_number> numbers_;
    mutable std::map<std::string, std::vector<std::size_t>, std::less<>> by_key_;
    struct run {
        std::size_t first = 0, count = 0;
    };
    mutable std::map<market_part, run> by_part_;  // of numbers_
    mutable std::mutex lock_;                     // of what follows
    mutable std::map<market_part, std::vector<std::unique_ptr<copy>>> idle_;
};

// A part in which some numbers are others than the text says. It is a copy that the market lends, which other
// changes use again: one that reads 1,000 markets from it copies no text and parses none.
class lent_part {
  public:
    // The market outlives this.
    lent_part(const written_market& in, const market_part& of, std::span<const changed_number> now);
    ~lent_part();
    lent_part(const lent_part&) = delete;
    lent_part& operator=(const lent_part&) = delete;

    const config::node::member& as_member() const { return lent_->of; }

  private:
    const written_market& in_;
    market_part of_;
    std::unique_ptr<written_market::copy> lent_;
    std::vector<std::pair<config::node*, config::node>> before_;  // what was written over
    bool has_other_shape_ = false;                                // it is of no use to others
};

}  // namespace tilewalk::markets
