// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/calendar_reader.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::books {

namespace {

// Enough for centuries of several markets.
constexpr std::size_t most_holidays = bounds::holidays;

std::bitset<7> read_weekend(const config::node& value) {
    static const std::vector<std::string> names{"monday", "tuesday",  "wednesday", "thursday",
                                                "friday", "saturday", "sunday"};
    if (!value.is_sequence()) {
        value.fail("found " + value.found() + ", expected a list of weekdays, such as [saturday, sunday]");
    }
    std::bitset<7> weekend;
    for (const config::node& item : value.items()) {
        const auto at = item.is_scalar() ? std::ranges::find(names, item.text()) : names.end();
        if (at == names.end()) item.fail_word(names);
        weekend.set(static_cast<std::size_t>(at - names.begin()));
    }
    if (weekend.all()) value.fail("found all seven weekdays, expected one that is no weekend");
    return weekend;
}

dates::calendar named(const config::node& value, const calendars& known) {
    const auto at = value.is_scalar() ? known.find(value.text()) : known.end();
    if (at != known.end()) return at->second;
    std::vector<std::string> names;
    for (const auto& [name, days] : known) names.push_back(name);
    value.fail_word(names);
}

}  // namespace

calendars usual_calendars() {
    return {{"none", {}}, {"weekends", dates::calendar::weekends()}};
}

dates::calendar read_calendar(const config::node& definition) {
    if (!definition.is_mapping()) {
        definition.fail("found " + definition.found_kind() +
                        ", expected a calendar such as {holidays: [2026-12-25]}");
    }
    definition.only({"holidays", "weekend"});
    std::bitset<7> weekend(0b1100000);
    if (const auto* given = definition.find("weekend")) weekend = read_weekend(*given);
    const config::node& given = definition.at("holidays");
    if (!given.is_sequence()) {
        given.fail("found " + given.found() + ", expected a list of dates, such as [2026-12-25]");
    }
    if (given.items().size() > most_holidays) {
        given.fail("found " + std::to_string(given.items().size()) + " holidays, expected at most " +
                   std::to_string(most_holidays));
    }
    std::vector<dates::date> holidays;
    for (const config::node& item : given.items()) holidays.push_back(config::read_date(item));
    return {weekend, std::move(holidays)};
}

business_days read_business_days(const config::node& of, const calendars& known) {
    static const std::vector<std::string> rolls{"unadjusted", "following", "modified_following", "preceding",
                                                "modified_preceding"};
    business_days read;
    if (const auto* names = of.find("calendar")) {
        if (names->is_sequence()) {
            if (names->items().empty()) names->fail("found an empty list, expected at least one calendar");
            try {
                for (const config::node& item : names->items())
                    read.days = read.days.joined_with(named(item, known));
            } catch (const error& e) {
                if (e.where().line > 0) throw;
                names->fail(e.message());  // errors of calendars lack a place
            }
        } else {
            read.days = named(*names, known);
        }
    }
    if (const auto* given = of.find("roll")) {
        const auto rule = given->is_scalar() ? dates::parse_roll(given->text()) : std::nullopt;
        if (!rule) given->fail_word(rolls);
        read.rule = *rule;
    }
    return read;
}

}  // namespace tilewalk::books
