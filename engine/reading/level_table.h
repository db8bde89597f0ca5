// SPDX-License-Identifier: Apache-2.0
// A table of levels by day or scenario. Its columns are market keys, or keys of ORE mapped to market keys.
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
    double factor_years = 0;  // if above 0, cells are discount factors for this time
    double per_rate = 1;      // factor from a continuous ACT/365F zero rate to the market's rate
    bool is_inverse = false;  // cells quote the exchange rate the other way round
};

class level_keys {
  public:
    level_keys() = default;
    // Reads a mapping of columns to market keys, such as {EquityVolatility/ACME/1: ACME.volatility@1y}.
    level_keys(const config::node& given, const movable_numbers& numbers);

    bool is_given() const { return is_given_; }
    // Null if the column is not mapped. An empty source means that the column is to be ignored.
    const std::optional<level_source>* find(const std::string& column) const;

  private:
    void add(const config::node& at, const std::string& column, std::optional<level_source> from);

    bool is_given_ = false;
    std::map<std::string, std::optional<level_source>> sources_;
};
// Reads `keys:` of a file: a mapping, or the name of a file with one. Empty if `given` is null.
level_keys read_level_keys(const config::node* given, const movable_numbers& numbers, named_files& files);

class level_table {
  public:
    // `rows` must be at the header, which must begin with "Date" (see is_of_levels).
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
        markets::range_check in_range;  // null if any number is valid
    };
    std::optional<level_source> source_of(std::size_t cell, const level_keys& keys,
                                          const movable_numbers& numbers) const;

    config::csv_reader& rows_;
    std::vector<used_column> columns_;
    std::vector<std::string> left_out_;
};

// Any table whose header begins with "Date" has levels; one that begins "Date,Scenario" is in ORE's form.
bool is_of_levels(const config::csv_reader& table);
bool is_of_ore(const config::csv_reader& table);

// Strict reading throws unless a row count, or a last line "...", shows that the table was read to its end.
void check_whole(const config::csv_reader& table, const config::node* row_count, bool strict,
                 std::vector<std::string>& remarks);

}  // namespace tilewalk::reading
