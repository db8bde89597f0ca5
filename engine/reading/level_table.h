// SPDX-License-Identifier: Apache-2.0
// A table of levels of a market's numbers, a row a day or scenario: by market keys, or in the layout of ORE,
// whose keys a table leads to market keys.
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

// A number of the market, and how the cells of a column tell it.
struct level_source {
    std::size_t number = 0;
    double factor_years = 0;  // above 0: cells are discount factors of that time
    double per_rate = 1;      // the market's rate for a zero rate of 1, continuously compounded and ACT/365F
    bool is_inverse = false;  // an exchange rate the other way round
};

// The names of columns that are no market keys.
class level_keys {
  public:
    level_keys() = default;
    // A mapping of names to market keys: {EquityVolatility/ACME/1: ACME.volatility@1y}.
    level_keys(const config::node& given, const movable_numbers& numbers);

    bool is_given() const { return is_given_; }
    // Null: not told. A source without a value: told to be left out.
    const std::optional<level_source>* find(const std::string& column) const;

  private:
    void add(const config::node& at, const std::string& column, std::optional<level_source> from);

    bool is_given_ = false;
    std::map<std::string, std::optional<level_source>> sources_;
};
// The table under the key `keys`: a mapping, or the name of a file with one. Null: none.
level_keys read_level_keys(const config::node* given, const movable_numbers& numbers, named_files& files);

class level_table {
  public:
    // The columns of a table that begins with "Date" (see is_of_levels). `rows` is at its header.
    level_table(config::csv_reader& rows, const level_keys& keys, const movable_numbers& numbers);

    std::size_t columns() const { return columns_.size(); }
    std::size_t number(std::size_t column) const { return columns_[column].from.number; }
    // In the row at hand.
    double level(std::size_t column) const;
    [[noreturn]] void fail(std::size_t column, const std::string& message) const;
    dates::date date() const;
    const std::string& date_text() const { return rows_.row().front().text; }
    const std::string& scenario_text() const { return rows_.row()[1].text; }

    // A sentence on the columns that nothing leads to a number of the market; empty if there are none.
    std::string remark() const;

  private:
    struct used_column {
        std::size_t cell;
        level_source from;
        markets::range_check in_range;  // null: none
    };
    std::optional<level_source> source_of(std::size_t cell, const level_keys& keys,
                                          const movable_numbers& numbers) const;

    config::csv_reader& rows_;
    std::vector<used_column> columns_;
    std::vector<std::string> left_out_;
};

// "Date,Scenario,...": ORE's. "Date,..." else: by market keys.
bool is_of_levels(const config::csv_reader& table);
bool is_of_ore(const config::csv_reader& table);

// Refuses a table that has been read to its end, and that may be cut short where files are read strictly:
// neither a count of its rows nor a last line "..." says that it is whole.
void check_whole(const config::csv_reader& table, const config::node* row_count, bool strict,
                 std::vector<std::string>& remarks);

}  // namespace tilewalk::reading
