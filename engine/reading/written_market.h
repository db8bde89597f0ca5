// SPDX-License-Identifier: Apache-2.0
// A market as its file writes it, and the keys of its numbers.
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

// A part read by itself: a currency, exchange rate or asset, all correlations, or the fixings of one name.
struct market_part {
    enum class section { currencies, fx, assets, correlations, fixings };
    section in = section::assets;
    std::string name;  // empty for the correlations

    auto operator<=>(const market_part&) const = default;
};

struct keyed_number {
    std::string key, unit;
    double value = 0;  // as the market's file has it
    market_part of;
    std::vector<std::size_t> place;  // indexes of the children from the part down to the number
    double factor_years = 0;         // above 0: a discount factor for this time; `value` is its zero rate
    bool is_added = false;           // a shift of a row of scenarios; `place` leads to the row
    range_check in_range = nullptr;  // null if the model checks the number
};

// A number whose value is no longer that of the file.
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

    // All numbers in the order of the file. The list is made on first use.
    const std::vector<keyed_number>& numbers() const;
    // Finds a key in any spelling of its times and numbers ("@0.50y", "@1e2"), and with a correlation's names
    // in either order. Throws tilewalk::error (usage) if the key fits no number or several.
    const keyed_number& find(std::string_view key) const;

    using changes = std::map<std::string, double, std::less<>>;
    std::map<market_part, std::vector<changed_number>> by_part(const changes& now) const;
    // The whole market with the changed numbers of `now` written into it.
    config::node whole(const changes& now) const;

  private:
    friend class lent_part;
    // A copy of a part, with pointers to its keyed numbers.
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
    mutable std::map<market_part, run> by_part_;  // by part: its run of numbers_
    mutable std::mutex lock_;                     // guards idle_
    mutable std::map<market_part, std::vector<std::unique_ptr<copy>>> idle_;
};

// A part of a market with some numbers changed. It borrows a copy of the part from the market and gives it
// back afterwards, so 1,000 changed markets, one after another, copy and parse no text.
class lent_part {
  public:
    // `in` must outlive this object.
    lent_part(const written_market& in, const market_part& of, std::span<const changed_number> now);
    ~lent_part();
    lent_part(const lent_part&) = delete;
    lent_part& operator=(const lent_part&) = delete;

    const config::node::member& as_member() const { return lent_->of; }

  private:
    const written_market& in_;
    market_part of_;
    std::unique_ptr<written_market::copy> lent_;
    std::vector<std::pair<config::node*, config::node>> before_;  // what stood there before the change
    bool has_other_shape_ = false;                                // true if the copy can't be given back
};

}  // namespace tilewalk::markets
