// SPDX-License-Identifier: Apache-2.0
#include "products/dates/schedule.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::dates {
namespace {

constexpr auto most_times = static_cast<std::int64_t>(bounds::schedule_dates);
constexpr int most_units = 9999;  // largest count of a period, far from overflowing a calendar

[[noreturn]] void fail(const std::string& message) {
    throw error(error_kind::input, message);
}

constexpr std::array<std::pair<char, period::unit>, 5> unit_letters = {{{'d', period::unit::day},
                                                                        {'w', period::unit::week},
                                                                        {'m', period::unit::month},
                                                                        {'y', period::unit::year},
                                                                        {'b', period::unit::business_day}}};

std::string to_string(const period& p) {
    for (const auto& [letter, unit] : unit_letters) {
        if (unit == p.of) return std::to_string(p.count) + letter;
    }
    return std::to_string(p.count);
}

bool is_date(const time_point& t) {
    return std::holds_alternative<date>(t.when);
}

bool is_before(const time_point& a, const time_point& b) {
    return is_date(a) ? std::get<date>(a.when) < std::get<date>(b.when)
                      : std::get<double>(a.when) < std::get<double>(b.when);
}

void check_kind(const time_point& a, const time_point& b) {
    if (is_date(a) == is_date(b)) return;
    fail("found " + to_string(a) + " beside " + to_string(b) +
         ", expected all times of a schedule to be dates or all to be years");
}

void check_size(std::int64_t times) {
    if (times > most_times) {
        fail("found a schedule of " + std::to_string(times) + " times, expected at most " +
             std::to_string(most_times));
    }
}

date later(date d, std::int64_t days) {
    return {static_cast<std::int32_t>(d.serial + days)};
}

// Unadjusted dates after `start`, every `step`, up to and including `end`.
std::vector<date> dates_every(date start, date end, const period& step, const calendar& days) {
    // Check the number of dates before any is made, from the fewest days that `step` can have.
    std::int64_t shortest_days = step.count;
    if (step.of == period::unit::week) shortest_days *= 7;
    if (step.of == period::unit::month) shortest_days *= 28;
    if (step.of == period::unit::year) shortest_days *= 365;
    check_size((std::int64_t{end.serial} - start.serial) / shortest_days + 2);

    std::vector<date> found;
    date business = start;
    for (std::int64_t k = 1;; ++k) {
        const std::int64_t units = k * step.count;
        date next;
        switch (step.of) {
            case period::unit::day:
                next = later(start, units);
                break;
            case period::unit::week:
                next = later(start, 7 * units);
                break;
            case period::unit::month:
                next = add_months(start, static_cast<int>(units));
                break;
            case period::unit::year:
                next = add_months(start, static_cast<int>(12 * units));
                break;
            case period::unit::business_day:
                for (int i = 0; i < step.count && business < end; ++i)
                    business = next_business_day(business, days);
                next = business;
                break;
        }
        if (next >= end) break;
        found.push_back(next);
    }
    found.push_back(end);
    return found;
}

// The ends of `count` equal steps from `start` to `end`, each rounded to a day.
std::vector<date> dates_in_steps(date start, date end, int count) {
    const std::int64_t whole = std::int64_t{end.serial} - start.serial;
    if (whole < count) {
        fail(std::to_string(count) + " steps from " + to_string(start) + " to " + to_string(end) +
             ", which is only " + std::to_string(whole) + " days; expected at least a day a step");
    }
    std::vector<date> found;
    for (std::int64_t i = 1; i <= count; ++i) {
        found.push_back(later(start, (2 * whole * i + count) / (2 * std::int64_t{count})));
    }
    return found;
}

schedule generate_dates(const schedule_rule& rule, date start, date end) {
    if (rule.rule != roll::unadjusted && rule.days.is_every_day()) {
        fail("a roll rule without a calendar has nothing to roll to; expected calendar: weekends");
    }
    std::vector<date> unadjusted;
    if (rule.count) {
        unadjusted = dates_in_steps(start, end, *rule.count);
    } else {
        period step = *rule.every;
        if (step.count < 1 || step.count > most_units) {
            fail("found the period " + to_string(step) + ", expected 1 to " + std::to_string(most_units) +
                 " units");
        }
        // A period of one day means every business day if the schedule has a calendar.
        if (step.of == period::unit::day && step.count == 1 && !rule.days.is_every_day()) {
            step.of = period::unit::business_day;
        }
        if (step.of == period::unit::business_day && rule.days.is_every_day()) {
            fail("the period " + to_string(step) + " counts business days; expected calendar: weekends");
        }
        unadjusted = dates_every(start, end, step, rule.days);
    }

    // Periods run between adjusted dates. Dates adjusted to one day become one date, or an error with
    // `count`.
    const date first = adjust(start, rule.days, rule.rule);
    schedule made;
    made.anchor = time_point{first};
    if (rule.include_start) made.times.push_back({first});
    date last = first;
    for (const date d : unadjusted) {
        const date rolled = adjust(d, rule.days, rule.rule);
        if (rolled > last) {
            made.times.push_back({rolled});
            last = rolled;
        } else if (rule.count) {
            fail(std::to_string(*rule.count) + " steps from " + to_string(start) + " to " + to_string(end) +
                 " fall twice on " + to_string(last) + " after rolling; expected fewer steps, or every: 1b");
        }
    }
    if (made.times.empty()) {
        fail("no dates are left from " + to_string(start) + " to " + to_string(end) + " after rolling");
    }
    return made;
}

schedule generate_years(const schedule_rule& rule, double start, double end) {
    if (rule.every) {
        fail("the period " + to_string(*rule.every) +
             " needs dates for start and end, found years; expected count with years");
    }
    if (!rule.days.is_every_day() || rule.rule != roll::unadjusted) {
        fail("a calendar needs dates for start and end, found years");
    }
    schedule made;
    made.anchor = time_point{start};
    if (rule.include_start) made.times.push_back({start});
    for (int i = 1; i < *rule.count; ++i) made.times.push_back({start + (end - start) * i / *rule.count});
    made.times.push_back({end});
    check_increasing(made);
    return made;
}

}  // namespace

std::optional<period> parse_period(std::string_view text) {
    if (text == "business_day") return period{1, period::unit::business_day};
    if (text.size() < 2 || text.size() > 5) return std::nullopt;
    int count = 0;
    for (const char c : text.substr(0, text.size() - 1)) {
        if (c < '0' || c > '9') return std::nullopt;
        count = 10 * count + (c - '0');
    }
    if (count < 1) return std::nullopt;
    for (const auto& [letter, unit] : unit_letters) {
        if (letter == text.back()) return period{count, unit};
    }
    return std::nullopt;
}

schedule generate(const schedule_rule& rule) {
    check_kind(rule.start, rule.end);
    for (const time_point& t : {rule.start, rule.end}) {
        if (!is_date(t) && !std::isfinite(std::get<double>(t.when))) {
            fail("found " + to_string(t) + ", expected a finite number of years");
        }
    }
    if (!is_before(rule.start, rule.end)) {
        fail("the schedule starts at " + to_string(rule.start) + " and ends at " + to_string(rule.end) +
             ", expected the start before the end");
    }
    if (rule.every.has_value() == rule.count.has_value()) {
        fail(rule.every ? "found both every and count, expected one of them"
                        : "found neither every nor count, expected one of them");
    }
    if (rule.count) {
        if (*rule.count < 1)
            fail("found a count of " + std::to_string(*rule.count) + ", expected at least 1");
        check_size(std::int64_t{*rule.count} + (rule.include_start ? 1 : 0));
    }
    return is_date(rule.start)
               ? generate_dates(rule, std::get<date>(rule.start.when), std::get<date>(rule.end.when))
               : generate_years(rule, std::get<double>(rule.start.when), std::get<double>(rule.end.when));
}

void check_increasing(const schedule& s) {
    if (s.times.empty()) fail("found a schedule with no times, expected at least one");
    check_size(static_cast<std::int64_t>(s.times.size()));
    if (s.anchor) {
        check_kind(*s.anchor, s.times.front());
        if (is_before(s.times.front(), *s.anchor)) {
            fail("found " + to_string(s.times.front()) + " before the start " + to_string(*s.anchor));
        }
    }
    for (std::size_t i = 1; i < s.times.size(); ++i) {
        check_kind(s.times[i - 1], s.times[i]);
        if (!is_before(s.times[i - 1], s.times[i])) {
            fail("found " + to_string(s.times[i]) + " after " + to_string(s.times[i - 1]) +
                 ", expected strictly increasing times");
        }
    }
}

}  // namespace tilewalk::dates
