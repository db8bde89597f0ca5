// SPDX-License-Identifier: Apache-2.0
// Calendar dates, times in years, day counts. A time in a book is a date or years from as_of, the valuation
// date.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tilewalk::dates {

struct date {
    std::int32_t serial = 0;  // days since 1970-01-01
    friend auto operator<=>(const date&, const date&) = default;
};

struct year_month_day {
    int year = 1970, month = 1, day = 1;
};

std::optional<date> make_date(int year, int month, int day);  // empty if there is no such day
std::optional<date> parse_date(std::string_view iso);         // strict YYYY-MM-DD, 1900 to 2299
year_month_day civil(date d);
std::string to_string(date d);
int weekday(date d);  // 0 is Monday
date add_months(date d, int months, bool keep_end_of_month = false);

enum class day_count { act_365f, act_360, act_act, thirty_360 };
struct day_count_entry {
    day_count code;
    std::string_view name, word;  // as markets write it; as scripts write it
};
inline constexpr std::array day_counts{day_count_entry{day_count::act_365f, "ACT/365F", "act_365f"},
                                       day_count_entry{day_count::act_360, "ACT/360", "act_360"},
                                       day_count_entry{day_count::act_act, "ACT/ACT", "act_act"},
                                       day_count_entry{day_count::thirty_360, "30/360", "thirty_360"}};
std::optional<day_count> parse_day_count(std::string_view written);  // accepts the name or the word
double year_fraction(date from, date to, day_count convention);

// Times closer than this (a third of a second) are the same time.
inline constexpr double same_time_years = 1e-8;

struct time_point {
    std::variant<double, date> when = 0.0;

    // The years from as_of; ACT/365F turns a date into years.
    double years(date as_of) const;
    friend bool operator==(const time_point&, const time_point&) = default;
};
std::string to_string(const time_point& t);  // "2027-03-31" or "0.25y"
// Uses the convention if both times are dates; otherwise returns their difference in years.
double year_fraction(const time_point& from, const time_point& to, day_count convention, date as_of);

}  // namespace tilewalk::dates
