// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "products/dates/calendar.h"
#include "products/dates/date.h"

namespace tilewalk::dates {

// A period, written as "1d", "2w", "3m", "1y" or "business_day".
struct period {
    int count = 0;
    enum class unit { day, week, month, year, business_day } of = unit::day;
};
std::optional<period> parse_period(std::string_view text);

// A schedule as written in a book: start and end, with a frequency or a count.
struct schedule_rule {
    time_point start, end;
    std::optional<period> every;  // needs dates; counts from start, and end is always included
    std::optional<int> count;     // for dates or years: number of equal steps from start to end
    bool include_start = false;
    calendar days;
    roll rule = roll::unadjusted;
};

// Strictly increasing times. `anchor` is the start of the first period; empty if a book lists the dates.
struct schedule {
    std::vector<time_point> times;
    std::optional<time_point> anchor;
    friend bool operator==(const schedule&, const schedule&) = default;
};

// Times must all be dates, or all years. Both throw tilewalk::error (input); the reader of books adds the
// place.
schedule generate(const schedule_rule& rule);
void check_increasing(const schedule& s);

}  // namespace tilewalk::dates
