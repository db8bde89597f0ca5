// SPDX-License-Identifier: Apache-2.0
#include "products/dates/date.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::dates {
namespace {

constexpr int first_year = -32767, last_year = 32767;
// First and last year of a date in a book; a year outside is taken for a typing error.
constexpr int first_iso_year = 1900, last_iso_year = 2299;

std::chrono::year_month_day chrono_civil(date d) {
    return std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{d.serial}}};
}

std::optional<int> digits(std::string_view text) {
    int value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = 10 * value + (c - '0');
    }
    return value;
}

// ACT/ACT, ISDA 2006 section 4.16(b): a day counts as 1/366 in a leap year, as 1/365 in any other year.
double by_calendar_years(date from, date to) {
    double years = 0;
    for (date start = from; start < to;) {
        const int year = civil(start).year;
        const date new_year = *make_date(year + 1, 1, 1), end = std::min(new_year, to);
        const int days_of_year = new_year.serial - make_date(year, 1, 1)->serial;
        years += static_cast<double>(end.serial - start.serial) / days_of_year;
        start = end;
    }
    return years;
}

void append_padded(std::string& to, int value, std::size_t width) {
    const std::string text = std::to_string(std::abs(value));
    if (value < 0) to += '-';
    if (text.size() < width) to.append(width - text.size(), '0');
    to += text;
}

}  // namespace

std::optional<date> make_date(int year, int month, int day) {
    if (year < first_year || year > last_year || month < 1 || month > 12 || day < 1 || day > 31) {
        return std::nullopt;
    }
    const std::chrono::year_month_day ymd{std::chrono::year{year},
                                          std::chrono::month{static_cast<unsigned>(month)},
                                          std::chrono::day{static_cast<unsigned>(day)}};
    if (!ymd.ok()) return std::nullopt;
    return date{static_cast<std::int32_t>(std::chrono::sys_days{ymd}.time_since_epoch().count())};
}

std::optional<date> parse_date(std::string_view iso) {
    if (iso.size() != 10 || iso[4] != '-' || iso[7] != '-') return std::nullopt;
    const auto year = digits(iso.substr(0, 4)), month = digits(iso.substr(5, 2)), day = digits(iso.substr(8));
    if (!year || !month || !day || *year < first_iso_year || *year > last_iso_year) return std::nullopt;
    return make_date(*year, *month, *day);
}

year_month_day civil(date d) {
    const auto ymd = chrono_civil(d);
    return {int{ymd.year()}, static_cast<int>(unsigned{ymd.month()}), static_cast<int>(unsigned{ymd.day()})};
}

std::string to_string(date d) {
    const year_month_day ymd = civil(d);
    std::string text;
    append_padded(text, ymd.year, 4);
    text += '-';
    append_padded(text, ymd.month, 2);
    text += '-';
    append_padded(text, ymd.day, 2);
    return text;
}

int weekday(date d) {
    const std::chrono::weekday day{std::chrono::sys_days{std::chrono::days{d.serial}}};
    return static_cast<int>(day.iso_encoding()) - 1;
}

date add_months(date d, int months, bool keep_end_of_month) {
    const auto from = chrono_civil(d);
    const std::int64_t month_number =
        std::int64_t{int{from.year()}} * 12 + static_cast<int>(unsigned{from.month()}) - 1 + months;
    const std::int64_t month_in_year = (month_number % 12 + 12) % 12;
    const std::int64_t year = (month_number - month_in_year) / 12;
    if (year < first_year || year > last_year) {
        throw error(error_kind::input, std::to_string(months) + " months from " + to_string(d) +
                                           " is outside the calendar, expected a year up to " +
                                           std::to_string(last_year));
    }
    const std::chrono::year_month to{std::chrono::year{static_cast<int>(year)},
                                     std::chrono::month{static_cast<unsigned>(month_in_year + 1)}};
    const std::chrono::day last = (to / std::chrono::last).day();
    const bool at_end = from.day() == (from.year() / from.month() / std::chrono::last).day();
    const std::chrono::day day = (keep_end_of_month && at_end) || from.day() > last ? last : from.day();
    return {static_cast<std::int32_t>(std::chrono::sys_days{to / day}.time_since_epoch().count())};
}

std::optional<day_count> parse_day_count(std::string_view written) {
    for (const day_count_entry& known : day_counts) {
        if (written == known.name || written == known.word) return known.code;
    }
    return std::nullopt;
}

double year_fraction(date from, date to, day_count convention) {
    if (from > to) return -year_fraction(to, from, convention);
    const double days = static_cast<double>(std::int64_t{to.serial} - from.serial);
    switch (convention) {
        case day_count::act_365f:
            return days / 365.0;
        case day_count::act_360:
            return days / 360.0;
        case day_count::act_act:
            return by_calendar_years(from, to);
        case day_count::thirty_360:
            break;
    }
    // Bond basis, ISDA 2006 section 4.16(f): a start on the 31st counts as the 30th. An end on the 31st does
    // so only if the start is the 30th or 31st. The end of February stays as it is.
    year_month_day first = civil(from), second = civil(to);
    if (first.day == 31) first.day = 30;
    if (second.day == 31 && first.day == 30) second.day = 30;
    const int counted =
        360 * (second.year - first.year) + 30 * (second.month - first.month) + (second.day - first.day);
    return counted / 360.0;
}

double time_point::years(date as_of) const {
    if (const double* number = std::get_if<double>(&when)) return *number;
    return year_fraction(as_of, std::get<date>(when), day_count::act_365f);
}

std::string to_string(const time_point& t) {
    if (const date* day = std::get_if<date>(&t.when)) return to_string(*day);
    char text[32];
    const auto [end, status] = std::to_chars(text, text + sizeof text, std::get<double>(t.when));
    return std::string(text, status == std::errc{} ? end : text) + "y";
}

double year_fraction(const time_point& from, const time_point& to, day_count convention, date as_of) {
    const date* first = std::get_if<date>(&from.when);
    const date* second = std::get_if<date>(&to.when);
    if (first && second) return year_fraction(*first, *second, convention);
    return to.years(as_of) - from.years(as_of);
}

}  // namespace tilewalk::dates
