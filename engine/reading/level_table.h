// SPDX-License-Identifier: Apache-2.0
// A table of levels by day or scenario, in columns of market keys or of ORE's names mapped to them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/text/csv.h"
#include "engine/base/text/document.h"
#include "engine/market/ranges.h"
#include "engine/reading/movable_numbers.h"
#include "engine/reading/named_files.h"

namespace tilewalk::reading {

struct level_source {
    std::size_t number = 0;
    double factor_years = 0;  // above 0: cells are discount factors for that time
    double per_rate = 1;      // the market's rate for a continuously compounded ACT/365F zero rate of 1
    bool is_inverse = false;  // an exchange rate against the market's quote
};

class level_keys {
  public:
    level_keys() = default;
    // Reads such as {EquityVolatility/ACME/1: ACME.volatility@1y}.
    level_keys(const config::node& given, const movable_numbers& numbers);

    bool is_given() const { return is_given_; }
    // Null if not mapped. A source without a value is to be ignored.
    const std::optional<level_source>* find(const std::string& column) const;

  private:
    void add(const config::node& at, const std::string& column, std::optional<level_source> from);

    bool is_given_ = false;
    std::map<std::string, std::optional<level_source>> sources_;
};
// Reads `keys`: a mapping, or the name of a file with one. `given` may be null.
level_keys read_level_keys(const config::node* given, const movable_numbers& numbers, named_files& files);

class level_table {
  public:
    // Requires a table that begins with "Date" (see is_of_levels), with `rows` at its header.
    level_table(config::csv_reader& rows, const level_keys& keys, const movable_numbers& numbers);

    std::size_t columns() const { return columns_.size(); }
    std::size_t number(std::size_t column) const { return columns_[column].from.number; }
    double level(std::size_t column) const;
    [[noreturn]] void fail(std::size_t column, const std::string& message) const;
    dates::date date() const;
    const std::string& date_text() const { return rows_.row().front().text; }
    const std::string& scenario_text() const { return rows_.row()[1].text; }

    std::string remark() const;

  private:
    struct used_column {
        std::size_t cell;
        level_source from;
        markets::range_check in_range;  // may be null
    };
    std::optional<level_source> source_of(std::size_t cell, const level_keys& keys,
                                          const movable_numbers& numbers) const;

    config::csv_reader& rows_;
    std::vector<used_column> columns_;
    std::vector<std::string> left_out_;
};

// A header "Date,Scenario,..." is ORE's; any other "Date,..." has market keys.
bool is_of_levels(const config::csv_reader& table);
bool is_of_ore(const config::csv_reader& table);

// Strict reading demands a count of rows or a last line "..." of a table that was read to its end.
void check_whole(const config::csv_reader& table, const config::node* row_count, bool strict,
                 std::vector<std::string>& remarks);

}  // namespace tilewalk::reading
