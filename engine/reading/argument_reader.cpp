// SPDX-License-Identifier: Apache-2.0
// Reads a trade's terms. Every error says what the file has and what the product's declaration expects.
#include "engine/reading/argument_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/text/time_reader.h"
#include "tilewalk/bounds.h"

namespace tilewalk::books {

using language::argument;
using language::arguments;
using language::parameter;
using language::parameter_type;

namespace {

// Adds the place of `value` to errors of the dates module, which knows no files.
template <class calculation>
auto placed_at(const config::node& value, calculation&& calculate) {
    try {
        return calculate();
    } catch (const error& e) {
        if (e.where().line > 0) throw;
        value.fail(e.message());
    }
}

double read_number(const config::node& value, const parameter& declared) {
    constexpr double largest_exact_integer = 0x1p53;
    if (declared.type == parameter_type::integer && !(std::floor(value.number()) == value.number() &&
                                                      std::abs(value.number()) <= largest_exact_integer)) {
        value.fail("found " + value.found() + ", expected a whole number");
    }
    const double number = read_bounded(value, most_of(declared.type));
    std::vector<std::string> range;
    bool fits = true;
    const auto demand = [&](const std::optional<double>& bound, const char* words, auto&& holds) {
        if (!bound) return;
        range.push_back(words + config::shown(*bound));
        fits = fits && holds(*bound);
    };
    demand(declared.minimum, "at least ", [&](double bound) { return number >= bound; });
    demand(declared.above, "above ", [&](double bound) { return number > bound; });
    demand(declared.maximum, "at most ", [&](double bound) { return number <= bound; });
    demand(declared.below, "below ", [&](double bound) { return number < bound; });
    if (!fits) {
        value.fail("found " + value.found() + ", expected a number " + range.front() +
                   (range.size() > 1 ? " and " + range.back() : ""));
    }
    return number;
}

std::string read_name(const config::node& value, const char* expected) {
    if (!value.is_scalar() || value.text().empty())
        value.fail("found " + value.found() + ", expected " + expected);
    return value.text();
}

std::string read_choice(const config::node& value, const parameter& declared) {
    if (value.is_scalar()) {
        const auto& choices = declared.choices;
        if (std::find(choices.begin(), choices.end(), value.text()) != choices.end()) return value.text();
    }
    value.fail_word(declared.choices);
}

std::vector<std::string> read_asset_list(const config::node& value) {
    if (!value.is_sequence()) value.fail("found " + value.found() + ", expected a list of assets");
    if (value.items().empty()) value.fail("found an empty list, expected at least one asset");
    std::vector<std::string> names;
    for (const auto& item : value.items()) {
        names.push_back(read_name(item, "the name of an asset"));
        if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) {
            item.fail("found " + item.found() + " a second time, expected different assets");
        }
    }
    return names;
}

// Reads a date, a number of years, or {date: 2026-12-25, calendar: weekends, roll: following}.
dates::time_point read_date(const config::node& value, const calendars& known) {
    if (!value.is_mapping()) return config::read_time_point(value);
    value.only({"date", "calendar", "roll"});
    const dates::date given = config::read_date(value.at("date"));
    value.at("calendar");
    value.at("roll");
    const business_days by = read_business_days(value, known);
    return {dates::adjust(given, by.days, by.rule)};
}

dates::schedule read_schedule_rule(const config::node& value, const calendars& known) {
    value.only({"start", "end", "every", "count", "calendar", "roll", "include_start"});
    dates::schedule_rule rule;
    rule.start = config::read_time_point(value.at("start"));
    rule.end = config::read_time_point(value.at("end"));
    if (const auto* every = value.find("every")) {
        rule.every = every->is_scalar() ? dates::parse_period(every->text()) : std::nullopt;
        if (!rule.every) {
            every->fail("found " + every->found() +
                        ", expected a period such as 1d, 2w, 3m, 1y or business_day");
        }
    }
    if (const auto* count = value.find("count")) {
        const std::int64_t steps = count->integer();
        constexpr auto most = static_cast<int>(bounds::schedule_dates);  // most dates of a schedule
        if (steps < 1 || steps > most) {
            count->fail("found " + count->found() + ", expected a number of dates from 1 to " +
                        std::to_string(most));
        }
        rule.count = static_cast<int>(steps);
    }
    const business_days by = read_business_days(value, known);
    rule.days = by.days;
    rule.rule = by.rule;
    if (const auto* include_start = value.find("include_start"))
        rule.include_start = include_start->boolean();
    return placed_at(value, [&] { return dates::generate(rule); });
}

dates::schedule read_schedule(const config::node& value, const parameter& declared, const calendars& known) {
    if (value.is_mapping()) return read_schedule_rule(value, known);
    if (!value.is_sequence()) {
        value.fail("found " + value.found() +
                   ", expected a list of dates or {start: ..., end: ..., every: ...}");
    }
    dates::schedule read;
    for (const auto& item : value.items()) read.times.push_back(config::read_time_point(item));
    if (read.times.empty()) {
        // A trade may leave a list of dates empty only if an empty list is the parameter's declared default.
        const auto* fallback =
            declared.fallback ? std::get_if<dates::schedule>(&*declared.fallback) : nullptr;
        if (fallback && fallback->times.empty()) return read;
        value.fail("found an empty list, expected at least one date");
    }
    placed_at(value, [&] { dates::check_increasing(read); });
    return read;
}

std::size_t length_of(const argument& list) {
    if (const auto* dates_of = std::get_if<dates::schedule>(&list)) return dates_of->times.size();
    return std::get<std::vector<std::string>>(list).size();
}

template <class value_type, class read>
argument read_each(const config::node& value, const parameter& declared, const arguments& others,
                   read&& read_one) {
    const std::size_t length = length_of(others.find(declared.per)->second);
    if (!value.is_sequence()) return std::vector<value_type>(length, read_one(value));
    if (value.items().size() != length) {
        value.fail("found a list of " + std::to_string(value.items().size()) + ", expected " +
                   std::to_string(length) + ", one for each member of '" + declared.per +
                   "', or a single value for all");
    }
    std::vector<value_type> each;
    each.reserve(length);
    for (const auto& item : value.items()) each.push_back(read_one(item));
    return each;
}

argument spread(const argument& one, const parameter& declared, const arguments& others) {
    if (declared.per.empty()) return one;
    const std::size_t length = length_of(others.find(declared.per)->second);
    if (const auto* number = std::get_if<double>(&one)) return std::vector<double>(length, *number);
    return std::vector<dates::time_point>(length, std::get<dates::time_point>(one));
}

void refuse_unknown_keys(const config::node& trade, const std::vector<parameter>& parameters,
                         const std::vector<std::string>& other_keys) {
    const auto is_known = [&](const std::string& key) {
        return std::find(other_keys.begin(), other_keys.end(), key) != other_keys.end() ||
               std::any_of(parameters.begin(), parameters.end(),
                           [&](const auto& p) { return p.name == key; });
    };
    const auto& members = trade.members();
    if (std::all_of(members.begin(), members.end(), [&](const auto& m) { return is_known(m.key); })) return;
    std::vector<std::string> known = other_keys;
    for (const auto& declared : parameters) known.push_back(declared.name);
    trade.only(known);
}

}  // namespace

double most_of(parameter_type type) {
    switch (type) {
        case parameter_type::rate:
            return bounds::rate;
        case parameter_type::number:
            return bounds::number;
        default:
            return bounds::money;
    }
}

double read_bounded(const config::node& value, double most) {
    const double number = value.number();
    if (std::abs(number) <= most) return number;
    value.fail("found " + value.found() + ", expected a number between " + config::shown(-most) + " and " +
               config::shown(most));
}

argument read_argument(const config::node& value, const parameter& declared, const arguments& others,
                       const calendars& known) {
    const auto one_number = [&](const config::node& n) { return read_number(n, declared); };
    const auto one_date = [&](const config::node& n) { return read_date(n, known); };
    if (!declared.per.empty()) {
        if (declared.type == parameter_type::date)
            return read_each<dates::time_point>(value, declared, others, one_date);
        return read_each<double>(value, declared, others, one_number);
    }
    switch (declared.type) {
        case parameter_type::amount:
        case parameter_type::number:
        case parameter_type::rate:
        case parameter_type::integer:
            return one_number(value);
        case parameter_type::boolean:
            return value.boolean();
        case parameter_type::choice:
            return read_choice(value, declared);
        case parameter_type::date:
            return one_date(value);
        case parameter_type::schedule:
            return read_schedule(value, declared, known);
        case parameter_type::asset:
            return read_name(value, "the name of an asset");
        case parameter_type::asset_list:
            return read_asset_list(value);
        case parameter_type::currency:
            return read_name(value, "the name of a currency");
    }
    throw error(error_kind::internal, "a parameter of no known type", declared.where, declared.name);
}

arguments read_arguments(const config::node& trade, const std::vector<parameter>& parameters,
                         const std::vector<std::string>& other_keys, const calendars& known) {
    refuse_unknown_keys(trade, parameters, other_keys);
    arguments read;
    // Parameters that list a value per date or asset are read last: they need the number of dates or assets.
    for (const bool is_list : {false, true}) {
        for (const auto& declared : parameters) {
            if (declared.per.empty() == is_list) continue;
            const auto* const value = trade.find(declared.name);
            if (!declared.unless.empty() && trade.find(declared.unless) != nullptr) {
                if (value == nullptr) continue;
                value->fail("found '" + declared.name + "' beside '" + declared.unless +
                            "', expected one of them");
            }
            if (value != nullptr) {
                read.emplace(declared.name, read_argument(*value, declared, read, known));
            } else if (declared.fallback) {
                read.emplace(declared.name, spread(*declared.fallback, declared, read));
            } else if (!declared.same_as.empty()) {
                read.emplace(declared.name, read.find(declared.same_as)->second);
            } else if (!declared.optional) {
                std::string help = declared.help;
                while (help.ends_with('.')) help.pop_back();
                trade.fail_missing("'" + declared.name + "' (" + help + ")");
            }
        }
    }
    return read;
}

}  // namespace tilewalk::books
