// SPDX-License-Identifier: Apache-2.0
// Schedules, rolling and their refusals, against lists written by hand.
#include "products/dates/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tilewalk/error.h"

namespace schedule_test {
namespace {

using namespace tilewalk;
using namespace tilewalk::dates;

date day(const std::string& iso) {
    return parse_date(iso).value();
}

std::string joined(const schedule& s) {
    std::string text;
    for (const time_point& t : s.times) text += (text.empty() ? "" : " ") + to_string(t);
    return text;
}

schedule_rule every(const char* from, const char* to, const char* period, calendar days = calendar(),
                    roll rule = roll::unadjusted, bool include_start = false) {
    schedule_rule made;
    made.start = {day(from)};
    made.end = {day(to)};
    made.every = parse_period(period);
    EXPECT_TRUE(made.every) << period;
    made.include_start = include_start;
    made.days = days;
    made.rule = rule;
    return made;
}

schedule_rule steps(time_point from, time_point to, int count) {
    schedule_rule made;
    made.start = from;
    made.end = to;
    made.count = count;
    return made;
}

TEST(schedule, periods) {
    const struct {
        const char* text;
        int count;
        period::unit unit;
    } cases[] = {{"1d", 1, period::unit::day},          {"2w", 2, period::unit::week},
                 {"3m", 3, period::unit::month},        {"10y", 10, period::unit::year},
                 {"5b", 5, period::unit::business_day}, {"business_day", 1, period::unit::business_day}};
    for (const auto& c : cases) {
        const auto found = parse_period(c.text);
        ASSERT_TRUE(found) << c.text;
        EXPECT_EQ(found->count, c.count) << c.text;
        EXPECT_EQ(found->of, c.unit) << c.text;
    }
    for (const char* text :
         {"", "m", "1", "0m", "-1m", "1 m", "1M", "1q", "1.5m", "12345d", "99999999999d", "+1m"}) {
        EXPECT_FALSE(parse_period(text)) << text;
    }
}

TEST(schedule, names) {
    EXPECT_EQ(parse_roll("unadjusted"), roll::unadjusted);
    EXPECT_EQ(parse_roll("following"), roll::following);
    EXPECT_EQ(parse_roll("modified_following"), roll::modified_following);
    EXPECT_EQ(parse_roll("preceding"), roll::preceding);
    EXPECT_EQ(parse_roll("modified_preceding"), roll::modified_preceding);
    EXPECT_FALSE(parse_roll("Following"));
}

TEST(schedule, rolling) {
    const struct {
        const char* from;
        roll rule;
        const char* expected;
    } cases[] = {
        {"2026-01-16", roll::following, "2026-01-16"},           // Friday
        {"2026-01-17", roll::following, "2026-01-19"},           // Saturday
        {"2026-01-18", roll::following, "2026-01-19"},           // Sunday
        {"2026-01-17", roll::preceding, "2026-01-16"},           //
        {"2026-01-18", roll::preceding, "2026-01-16"},           //
        {"2026-01-17", roll::modified_following, "2026-01-19"},  //
        {"2026-01-31", roll::following, "2026-02-02"},           // Saturday at a month end
        {"2026-01-31", roll::modified_following, "2026-01-30"},  //
        {"2028-12-31", roll::following, "2029-01-01"},           // weekends only: no holidays
        {"2028-12-31", roll::modified_following, "2028-12-29"},  //
        {"2026-01-17", roll::unadjusted, "2026-01-17"},
        {"2026-02-01", roll::preceding, "2026-01-30"},  // Sunday, the first of its month
        {"2026-02-01", roll::modified_preceding, "2026-02-02"},
        {"2026-01-18", roll::modified_preceding, "2026-01-16"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(to_string(adjust(day(c.from), calendar::weekends(), c.rule)), c.expected) << c.from;
        EXPECT_EQ(adjust(day(c.from), calendar(), c.rule), day(c.from)) << c.from;
    }
}

TEST(schedule, holidays) {
    // Good Friday and Easter Monday of 2026, given out of order and one of them twice.
    const calendar easter({}, {day("2026-04-06"), day("2026-04-03"), day("2026-04-06")});
    EXPECT_FALSE(easter.is_business_day(day("2026-04-03")));
    EXPECT_TRUE(easter.is_business_day(day("2026-04-04"))) << "a Saturday, but weekends were not asked for";
    const calendar london = easter.joined_with(calendar::weekends());
    EXPECT_EQ(to_string(adjust(day("2026-04-03"), london, roll::following)), "2026-04-07");
    EXPECT_EQ(to_string(adjust(day("2026-04-06"), london, roll::preceding)), "2026-04-02");
    EXPECT_EQ(joined(generate(every("2026-04-01", "2026-04-09", "1b", london))),
              "2026-04-02 2026-04-07 2026-04-08 2026-04-09");
    // A calendar with business days from Sunday to Thursday.
    const calendar tel_aviv(std::bitset<7>(0b0110000), {});
    EXPECT_EQ(to_string(adjust(day("2026-01-16"), tel_aviv, roll::following)), "2026-01-18");
    EXPECT_TRUE(calendar().is_every_day());
    EXPECT_FALSE(easter.is_every_day() || tel_aviv.is_every_day());
    EXPECT_THROW(calendar(std::bitset<7>(0b1111111), {}), error);
    EXPECT_THROW(tel_aviv.joined_with(calendar(std::bitset<7>(0b1001111), {})), error);
}

TEST(schedule, counted_forward_from_the_start) {
    const struct {
        schedule_rule rule;
        const char* expected;
    } cases[] = {
        {every("2026-01-31", "2026-06-30", "1m"), "2026-02-28 2026-03-31 2026-04-30 2026-05-31 2026-06-30"},
        {every("2028-02-29", "2032-02-29", "1y"), "2029-02-28 2030-02-28 2031-02-28 2032-02-29"},
        // Ends after a short last period, and ends that whole periods reach exactly.
        {every("2026-01-15", "2026-05-01", "1m"), "2026-02-15 2026-03-15 2026-04-15 2026-05-01"},
        {every("2026-01-15", "2026-04-15", "3m"), "2026-04-15"},
        {every("2026-01-15", "2026-02-01", "3m"), "2026-02-01"},
        {every("2026-01-15", "2026-02-12", "2w"), "2026-01-29 2026-02-12"},
        {every("2026-01-15", "2026-01-22", "3d"), "2026-01-18 2026-01-21 2026-01-22"},
        {every("2026-01-15", "2026-04-15", "1m", calendar(), roll::unadjusted, true),
         "2026-01-15 2026-02-15 2026-03-15 2026-04-15"},
        // Rolled: 2026-02-15 and 2026-03-15 are Sundays, and 2026-05-31 is a Sunday at a month end.
        {every("2026-01-15", "2026-04-15", "1m", calendar::weekends(), roll::following),
         "2026-02-16 2026-03-16 2026-04-15"},
        {every("2026-03-31", "2026-06-30", "1m", calendar::weekends(), roll::modified_following),
         "2026-04-30 2026-05-29 2026-06-30"},
        {every("2026-03-31", "2026-06-30", "1m", calendar::weekends(), roll::following),
         "2026-04-30 2026-06-01 2026-06-30"},
        {every("2026-01-15", "2026-01-31", "1m", calendar::weekends(), roll::following), "2026-02-02"},
        // Every calendar day from a Thursday on, but for Saturday and Sunday.
        {every("2026-01-15", "2026-01-21", "1d", calendar::weekends()),
         "2026-01-16 2026-01-19 2026-01-20 2026-01-21"},
        {every("2026-01-15", "2026-01-21", "1b", calendar::weekends()),
         "2026-01-16 2026-01-19 2026-01-20 2026-01-21"},
        {every("2026-01-15", "2026-01-21", "2b", calendar::weekends()), "2026-01-19 2026-01-21"},
        {every("2026-01-15", "2026-01-22", "5b", calendar::weekends()), "2026-01-22"},
        {every("2026-01-15", "2026-01-19", "1d"), "2026-01-16 2026-01-17 2026-01-18 2026-01-19"},
        {every("2026-01-17", "2026-01-20", "1b", calendar::weekends()), "2026-01-19 2026-01-20"},
        {every("2026-01-17", "2026-01-20", "1b", calendar::weekends(), roll::following, true),
         "2026-01-19 2026-01-20"},
        // Saturday, Sunday and Monday all roll onto the same Monday.
        {every("2026-01-14", "2026-01-20", "1d", calendar::weekends(), roll::following),
         "2026-01-15 2026-01-16 2026-01-19 2026-01-20"},
        {every("2026-01-15", "2026-01-23", "2d", calendar::weekends(), roll::following),
         "2026-01-19 2026-01-21 2026-01-23"},
        // A date that rolls back onto the start is left out like the start.
        {every("2026-01-16", "2026-01-20", "2d", calendar::weekends(), roll::preceding), "2026-01-20"},
    };
    for (const auto& c : cases) {
        const schedule made = generate(c.rule);
        EXPECT_EQ(joined(made), c.expected) << to_string(c.rule.start) << " to " << to_string(c.rule.end);
        EXPECT_NO_THROW(check_increasing(made));
    }
}

TEST(schedule, the_anchor_is_the_rolled_start) {
    EXPECT_EQ(generate(every("2026-01-15", "2026-04-15", "1m")).anchor, time_point{day("2026-01-15")});
    EXPECT_EQ(generate(every("2026-01-17", "2026-04-15", "1m", calendar::weekends(), roll::following)).anchor,
              time_point{day("2026-01-19")});
    EXPECT_EQ(generate(steps({0.5}, {1.0}, 2)).anchor, time_point{0.5});
}

TEST(schedule, equal_steps_in_years) {
    const schedule daily = generate(steps({0.0}, {1.0}, 252));
    ASSERT_EQ(daily.times.size(), 252u);
    for (int i = 1; i <= 252; ++i) {
        EXPECT_EQ(std::get<double>(daily.times[static_cast<std::size_t>(i - 1)].when), i / 252.0) << i;
    }
    const schedule thirds = generate(steps({0.1}, {0.7}, 3));
    ASSERT_EQ(thirds.times.size(), 3u);
    EXPECT_EQ(std::get<double>(thirds.times[0].when), 0.1 + (0.7 - 0.1) * 1 / 3);
    EXPECT_EQ(std::get<double>(thirds.times[2].when), 0.7);

    schedule_rule with_start = steps({0.0}, {1.0}, 4);
    with_start.include_start = true;
    EXPECT_EQ(joined(generate(with_start)), "0y 0.25y 0.5y 0.75y 1y");
    EXPECT_EQ(joined(generate(steps({-0.5}, {0.5}, 2))), "0y 0.5y");
}

TEST(schedule, equal_steps_in_days) {
    EXPECT_EQ(joined(generate(steps({day("2026-01-15")}, {day("2026-01-25")}, 4))),
              "2026-01-18 2026-01-20 2026-01-23 2026-01-25");  // unrounded: 2.5 5 7.5 10
    const schedule each_day = generate(steps({day("2026-01-15")}, {day("2027-01-15")}, 365));
    EXPECT_EQ(each_day.times.size(), 365u);
    EXPECT_NO_THROW(check_increasing(each_day));
    const schedule most_days = generate(steps({day("2026-01-15")}, {day("2027-01-15")}, 252));
    EXPECT_EQ(most_days.times.size(), 252u);
    EXPECT_EQ(most_days.times.back(), time_point{day("2027-01-15")});
    EXPECT_NO_THROW(check_increasing(most_days));
}

TEST(schedule, as_many_as_allowed) {
    EXPECT_EQ(generate(steps({0.0}, {1.0}, 100'000)).times.size(), 100'000u);
    EXPECT_EQ(generate(every("2000-01-01", "2200-01-01", "1d")).times.size(), 73049u);
    EXPECT_EQ(generate(every("1900-01-01", "2190-01-01", "1y")).times.size(), 290u);
}

TEST(schedule, refusals) {
    const auto with = [](schedule_rule rule, auto change) {
        change(rule);
        return rule;
    };
    const schedule_rule monthly = every("2026-01-15", "2026-07-15", "1m");
    const schedule_rule quarterly_years = steps({0.0}, {1.0}, 4);
    const double infinity = std::numeric_limits<double>::infinity();
    const struct {
        const char* name;
        schedule_rule rule;
        std::vector<std::string> expected;
    } cases[] = {
        {"mixed",
         with(monthly, [](auto& r) { r.end = {1.0}; }),
         {"2026-01-15", "1y", "all times of a schedule"}},
        {"backwards",
         every("2026-07-15", "2026-01-15", "1m"),
         {"2026-07-15", "2026-01-15", "start before the end"}},
        {"empty", every("2026-07-15", "2026-07-15", "1m"), {"start before the end"}},
        {"both", with(monthly, [](auto& r) { r.count = 3; }), {"both every and count"}},
        {"neither", with(monthly, [](auto& r) { r.every.reset(); }), {"neither every nor count"}},
        {"no steps", steps({0.0}, {1.0}, 0), {"count of 0", "at least 1"}},
        {"negative steps", steps({0.0}, {1.0}, -4), {"count of -4"}},
        {"too many", steps({0.0}, {1.0}, 100'001), {"100001", "at most 100000"}},
        {"too many with the start",
         with(steps({0.0}, {1.0}, 100'000), [](auto& r) { r.include_start = true; }),
         {"100001", "at most 100000"}},
        {"huge", steps({day("2026-01-15")}, {day("2027-01-15")}, 2'000'000'000), {"at most 100000"}},
        {"too many days", every("1900-01-01", "2299-12-31", "1d"), {"at most 100000"}},
        {"steps in too few days",
         steps({day("2026-01-15")}, {day("2026-01-25")}, 11),
         {"11 steps", "10 days"}},
        {"period with years",
         with(quarterly_years,
              [](auto& r) {
                  r.count.reset();
                  r.every = parse_period("3m");
              }),
         {"3m", "needs dates", "expected count"}},
        {"calendar with years",
         with(quarterly_years, [](auto& r) { r.days = calendar::weekends(); }),
         {"calendar needs dates"}},
        {"roll without calendar",
         with(monthly, [](auto& r) { r.rule = roll::following; }),
         {"roll rule without a calendar", "calendar: weekends"}},
        {"business days without calendar",
         every("2026-01-15", "2026-07-15", "1b"),
         {"1b", "business days", "calendar: weekends"}},
        {"zero period", with(monthly, [](auto& r) { r.every->count = 0; }), {"0m", "1 to 9999"}},
        {"endless", steps({0.0}, {infinity}, 4), {"finite"}},
        {"steps that roll together",
         with(steps({day("2026-01-15")}, {day("2026-01-22")}, 7),
              [](auto& r) {
                  r.days = calendar::weekends();
                  r.rule = roll::following;
              }),
         {"7 steps", "twice on 2026-01-19", "every: 1b"}},
        {"nothing left",
         every("2026-01-16", "2026-01-18", "1w", calendar::weekends(), roll::preceding),
         {"no dates are left"}},
    };
    for (const auto& c : cases) {
        try {
            const schedule made = generate(c.rule);
            ADD_FAILURE() << c.name << " gave " << joined(made).substr(0, 200);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << c.name;
            for (const std::string& part : c.expected) {
                EXPECT_NE(e.message().find(part), std::string::npos)
                    << c.name << ": " << e.message() << "\n  lacks: " << part;
            }
        }
    }
}

TEST(schedule, lists) {
    const auto list = [](std::vector<time_point> times) { return schedule{std::move(times), std::nullopt}; };
    EXPECT_NO_THROW(check_increasing(list({{0.25}, {0.5}})));
    EXPECT_NO_THROW(check_increasing(list({{day("2026-03-31")}})));
    EXPECT_THROW(check_increasing(list({})), error);
    EXPECT_THROW(check_increasing(list({{0.5}, {0.5}})), error);
    EXPECT_THROW(check_increasing(list({{0.5}, {0.25}})), error);
    EXPECT_THROW(check_increasing(list({{0.5}, {day("2026-03-31")}})), error);
    EXPECT_THROW(check_increasing(list({{day("2026-03-31")}, {day("2026-03-30")}})), error);
    schedule late = list({{0.5}});
    late.anchor = time_point{0.75};
    EXPECT_THROW(check_increasing(late), error);
    late.anchor = time_point{day("2026-03-31")};
    EXPECT_THROW(check_increasing(late), error);
    schedule dated = list({{day("2026-03-31")}});
    dated.anchor = time_point{0.25};
    EXPECT_THROW(check_increasing(dated), error);
}

}  // namespace

}  // namespace schedule_test
