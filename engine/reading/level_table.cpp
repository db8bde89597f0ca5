// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/level_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "kernels/exponential.h"
#include "tilewalk/error.h"

namespace tilewalk::reading {

using config::node;

namespace {

constexpr std::string_view unit_of_rates = "rate a year";

// The parts of a key of ORE such as "EquityVolatility/ACME/1"; a backslash escapes a slash within a name.
struct ore_key {
    std::string type, name, index;
};
std::optional<ore_key> read_ore_key(std::string_view text) {
    std::array<std::string, 3> parts;
    std::size_t part = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '/') {
            if (++part == parts.size()) return std::nullopt;
            continue;
        }
        if (text[i] == '\\' && text.substr(i + 1, 1) == "/") ++i;
        parts[part] += text[i];
    }
    if (part + 1 != parts.size()) return std::nullopt;
    return ore_key{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

bool has_factors(std::string_view type) {
    constexpr std::array<std::string_view, 4> types{"DiscountCurve", "YieldCurve", "IndexCurve",
                                                    "DividendYield"};
    return std::ranges::find(types, type) != types.end();
}

std::string reversed(const std::string& pair) {
    return pair.size() == 6 ? pair.substr(3) + pair.substr(0, 3) : "";
}

dates::day_count day_count_of(const markets::keyed_number& rate, const node& market) {
    const node* of = nullptr;
    if (rate.of.in == markets::market_part::section::currencies) {
        of = &market.at("currencies").at(rate.of.name);
    } else {
        of = market.at("assets").at(rate.of.name).find("dividend_yield");
    }
    const node* const count = of != nullptr && of->is_mapping() ? of->find("day_count") : nullptr;
    return count != nullptr ? dates::parse_day_count(count->text()).value_or(dates::day_count::act_365f)
                            : dates::day_count::act_365f;
}

double rate_per_zero_rate(std::size_t number, const movable_numbers& numbers) {
    const markets::keyed_number& rate = numbers.written(number);
    const dates::day_count count = day_count_of(rate, numbers.root());
    if (count == dates::day_count::act_365f || rate.factor_years > 0) return 1;
    const std::size_t at = rate.key.rfind('@');
    if (at == rate.key.npos) return count == dates::day_count::act_360 ? 360.0 / 365.0 : 1;
    const auto day = dates::parse_date(std::string_view(rate.key).substr(at + 1));
    if (!day) return 1;  // a time in years is the same under any day count
    return dates::time_point{*day}.years(numbers.as_of()) /
           dates::year_fraction(numbers.as_of(), *day, count);
}

level_source factor_of(std::size_t number, std::optional<double> years, const movable_numbers& numbers) {
    const std::string& key = numbers[number].key;
    if (numbers[number].unit != unit_of_rates) {
        throw error(error_kind::input,
                    "found " + config::shown(key) + " for discount factors, expected the key of a rate");
    }
    if (!years) years = numbers.years(number);
    if (!years) {
        throw error(error_kind::input, "found " + config::shown(key) +
                                           ", a rate that has no time, for discount factors, expected their "
                                           "time too, such as {key: " +
                                           key + ", years: 1}");
    }
    return {number, *years, rate_per_zero_rate(number, numbers), false};
}

std::optional<level_source> read_source(const node& given, const std::string& column,
                                        const movable_numbers& numbers) {
    if (given.kind() == node::shape::null) return std::nullopt;
    const node* named = &given;
    std::optional<double> years;
    if (given.is_mapping()) {
        given.only({"key", "years"});
        named = &given.at("key");
        if (const node* const time = given.find("years")) {
            years = config::read_time_point(*time).years(numbers.as_of());
            if (!(*years > 0)) time->fail("found " + time->found() + ", expected a time after as_of");
        }
    }
    const std::size_t number = told_at(*named, [&] { return numbers.find(named->text()); });
    const auto ore = read_ore_key(column);
    if (ore && has_factors(ore->type))
        return told_at(*named, [&] { return factor_of(number, years, numbers); });
    if (years) given.at("years").fail("found a time for levels, expected one only for discount factors");
    const bool turns = ore && ore->type == "FXSpot" && numbers[number].key == reversed(ore->name) + ".rate";
    return level_source{number, 0, 1, turns};
}

}  // namespace

level_keys::level_keys(const node& given, const movable_numbers& numbers) : is_given_(true) {
    if (!given.is_mapping()) {
        given.fail("found " + given.found_kind() +
                   ", expected a mapping of columns to market keys, such as {EquityVolatility/ACME/1: "
                   "ACME.volatility@1y}");
    }
    for (const node::member& m : given.members()) {
        if (!m.value.is_sequence()) {
            add(m.value, m.key, read_source(m.value, m.key, numbers));
            continue;
        }
        // A list under NAME gives the market keys of NAME/0, NAME/1, ...
        const auto& items = m.value.items();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string column = m.key + "/" + std::to_string(i);
            add(items[i], column, read_source(items[i], column, numbers));
        }
    }
}

void level_keys::add(const node& at, const std::string& column, std::optional<level_source> from) {
    if (!sources_.emplace(column, from).second)
        at.fail("found a second key for the column " + config::shown(column) + ", expected one");
}

const std::optional<level_source>* level_keys::find(const std::string& column) const {
    const auto found = sources_.find(column);
    return found == sources_.end() ? nullptr : &found->second;
}

level_keys read_level_keys(const node* given, const movable_numbers& numbers, named_files& files) {
    if (given == nullptr) return {};
    if (given->is_mapping()) return {*given, numbers};
    const config::document read = files.yaml(*given);
    level_keys made(read.root, numbers);
    if (files.is_strict()) config::demand_end(read);
    return made;
}

bool is_of_levels(const config::csv_reader& table) {
    return table.header().front().text == "Date";
}

bool is_of_ore(const config::csv_reader& table) {
    return is_of_levels(table) && table.header().size() > 1 && table.header()[1].text == "Scenario";
}

level_table::level_table(config::csv_reader& rows, const level_keys& keys, const movable_numbers& numbers)
    : rows_(rows) {
    const auto& header = rows.header();
    std::size_t first = 1;
    if (is_of_ore(rows)) first = header.size() > 2 && header[2].text == "Numeraire" ? 3 : 2;
    std::map<std::size_t, std::size_t> columns_of;  // by number of the market: columns that set it
    for (std::size_t cell = first; cell < header.size(); ++cell) {
        const auto from = source_of(cell, keys, numbers);
        if (!from) {
            const bool is_told = keys.find(header[cell].text) != nullptr;
            if (!is_told) left_out_.push_back(header[cell].text);
            continue;
        }
        const auto [other, is_new] = columns_of.emplace(from->number, cell);
        if (!is_new) {
            rows.fail_header(cell, "found the column " + config::shown(header[cell].text) + " for " +
                                       numbers[from->number].key + ", which the column " +
                                       config::shown(header[other->second].text) +
                                       " has already, expected one column for each number");
        }
        columns_.push_back({cell, *from, numbers.written(from->number).in_range});
    }
    if (columns_.empty()) {
        rows.fail_header(0,
                         "found no column for a number of the market, expected market keys in the header, or "
                         "'keys' that map columns to them");
    }
}

std::optional<level_source> level_table::source_of(std::size_t cell, const level_keys& keys,
                                                   const movable_numbers& numbers) const {
    const std::string& name = rows_.header()[cell].text;
    if (const auto* const told = keys.find(name)) return *told;
    if (const auto number = numbers.known(name)) return level_source{*number, 0, 1, false};
    if (const auto ore = read_ore_key(name)) {
        // Types of ORE keys that are understood without a mapping.
        std::optional<std::size_t> number;
        bool turns = false;
        if (ore->type == "EquitySpot") number = numbers.known(ore->name + ".spot");
        if (ore->type == "FXSpot") {
            number = numbers.known(ore->name + ".rate");
            if (!number) number = numbers.known(reversed(ore->name) + ".rate"), turns = true;
        }
        return number ? std::optional(level_source{*number, 0, 1, turns}) : std::nullopt;
    }
    if (keys.is_given()) return std::nullopt;
    const std::size_t number = told_at(cell_of_header{rows_, cell}, [&] { return numbers.find(name); });
    return level_source{number, 0, 1, false};
}

double level_table::level(std::size_t column) const {
    const auto& [cell, from, in_range] = columns_[column];
    const std::string& text = rows_.row()[cell].text;
    const auto number = config::plain_number(text);
    if (!number) {
        rows_.fail(cell, "found " + (text.empty() ? "nothing" : config::shown(text)) + ", expected a level" +
                             config::number_hint(text));
    }
    markets::complaint wrong;
    if (from.factor_years > 0)
        wrong = markets::check_discount_factor(*number, from.factor_years, text);
    else if (in_range != nullptr)
        wrong = in_range(*number, text);
    if (wrong) rows_.fail(cell, *wrong);
    if (from.factor_years > 0) return -kernels::log(*number) / from.factor_years * from.per_rate;
    return from.is_inverse ? 1 / *number : *number;
}

void level_table::fail(std::size_t column, const std::string& message) const {
    rows_.fail(columns_[column].cell, message);
}

dates::date level_table::date() const {
    return told_at(cell_of_row{rows_, 0}, [&] { return config::read_date(date_text()); });
}

std::string level_table::remark() const {
    if (left_out_.empty()) return "";
    constexpr std::size_t most = 8;
    std::vector<std::string> told;
    for (std::size_t i = 0; i < std::min(left_out_.size(), most); ++i)
        told.push_back(config::shortened(left_out_[i]));
    const std::string names = left_out_.size() > most ? config::joined(told) + " and " +
                                                            std::to_string(left_out_.size() - most) + " more"
                                                      : config::joined(told, ", ", " and ");
    const bool is_one = left_out_.size() == 1;
    return rows_.here().file + ": " +
           (is_one ? "a column is no number" : std::to_string(left_out_.size()) + " columns are no numbers") +
           " of the market and move" + (is_one ? "s" : "") + " nothing: " + names;
}

void check_whole(const config::csv_reader& table, const node* row_count, bool strict,
                 std::vector<std::string>& remarks) {
    if (row_count != nullptr && row_count->integer() != static_cast<std::int64_t>(table.rows())) {
        row_count->fail("found " + row_count->found() + " beside a table of " + std::to_string(table.rows()) +
                        (table.rows() == 1 ? " row" : " rows") +
                        ", expected the number of its rows; the table may be cut short");
    }
    if (row_count != nullptr || table.has_end_marker()) return;
    if (strict) {
        throw error(error_kind::input,
                    "found no last line '...', expected one, or a row_count beside the name of the table, "
                    "where files are read strictly" +
                        std::string(config::may_be_cut_short),
                    table.here());
    }
    if (table.ends_in_line())
        remarks.push_back(table.here().file + ": the last line has no line end, so it may be cut short");
}

}  // namespace tilewalk::reading
