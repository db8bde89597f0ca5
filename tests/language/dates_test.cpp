// SPDX-License-Identifier: Apache-2.0
// Civil dates, day counts against hand-computed values, and the reader of times in YAML.
#include "products/dates/date.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/base/text/time_reader.h"

namespace dates_test {
namespace {

using namespace tilewalk;
using namespace tilewalk::dates;

date day(const std::string& iso) {
    const auto found = parse_date(iso);
    EXPECT_TRUE(found) << iso;
    return found.value_or(date{});
}

TEST(dates, known_serials) {
    EXPECT_EQ(day("1970-01-01").serial, 0);
    EXPECT_EQ(day("2000-02-29").serial, 11016);
    EXPECT_EQ(day("2026-01-15").serial, 20468);
    EXPECT_EQ(day("1900-01-01").serial, -25567);
    EXPECT_EQ(day("2299-12-31").serial, 120529);
}

TEST(dates, every_day_goes_there_and_back) {
    date expected = day("1900-01-01");
    for (int year = 1900; year <= 2299; ++year) {
        for (int month = 1; month <= 12; ++month) {
            const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
            const int length = lengths[month - 1];
            for (int d = 1; d <= length; ++d, ++expected.serial) {
                const auto made = make_date(year, month, d);
                ASSERT_TRUE(made) << year << ' ' << month << ' ' << d;
                ASSERT_EQ(made->serial, expected.serial) << year << ' ' << month << ' ' << d;
                const year_month_day back = civil(*made);
                ASSERT_TRUE(back.year == year && back.month == month && back.day == d) << to_string(*made);
                ASSERT_EQ(parse_date(to_string(*made)), made) << to_string(*made);
                // 1900-01-01 was a Monday.
                ASSERT_EQ(weekday(*made), (made->serial + 25567) % 7) << to_string(*made);
            }
            ASSERT_FALSE(make_date(year, month, length + 1)) << year << ' ' << month;
        }
    }
}

TEST(dates, texts_that_are_no_date) {
    for (const char* text : {"",           "2026",       "2026-1-5",    "2026-01-5",        "26-01-05",
                             "2026-13-01", "2026-00-10", "2026-02-29",  "2026-04-31",       "2026-01-00",
                             "2026/01/05", "05-01-2026", "2026-01-05 ", " 2026-01-05",      "2026-01-0x",
                             "+026-01-05", "1899-12-31", "2300-01-01",  "2026-01-05T00:00", "2026-01--5"}) {
        EXPECT_FALSE(parse_date(text)) << text;
    }
    EXPECT_FALSE(make_date(2026, -1, 5));
    EXPECT_FALSE(make_date(2026, 1, -5));
    EXPECT_FALSE(make_date(40000, 1, 5));
}

TEST(dates, add_months) {
    const struct {
        const char* from;
        int months;
        bool keep_end;
        const char* expected;
    } cases[] = {
        {"2026-01-15", 1, false, "2026-02-15"},  {"2026-01-31", 1, false, "2026-02-28"},
        {"2028-01-31", 1, false, "2028-02-29"},  {"2026-01-31", 2, false, "2026-03-31"},
        {"2026-02-28", 1, false, "2026-03-28"},  {"2026-02-28", 1, true, "2026-03-31"},
        {"2028-02-28", 1, true, "2028-03-28"},   {"2028-02-29", 12, false, "2029-02-28"},
        {"2028-02-29", 48, false, "2032-02-29"}, {"2026-12-31", 2, false, "2027-02-28"},
        {"2026-01-31", -1, false, "2025-12-31"}, {"2026-03-31", -1, false, "2026-02-28"},
        {"2026-01-15", -1, false, "2025-12-15"}, {"2026-01-15", -13, false, "2024-12-15"},
        {"2026-01-15", 0, false, "2026-01-15"},  {"2026-04-30", 1, true, "2026-05-31"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(to_string(add_months(day(c.from), c.months, c.keep_end)), c.expected)
            << c.from << " plus " << c.months << (c.keep_end ? " keeping month ends" : "");
    }
    EXPECT_THROW(add_months(day("2026-01-15"), 2'000'000'000), error);
    EXPECT_THROW(add_months(day("2026-01-15"), -2'000'000'000), error);
}

TEST(dates, day_counts) {
    const struct {
        const char *from, *to, *convention;
        double expected;
    } cases[] = {
        {"2026-01-15", "2027-01-15", "ACT/365F", 1.0},
        {"2027-06-01", "2028-06-01", "ACT/365F", 366 / 365.0},  // over a 29 February
        {"2028-02-28", "2028-03-01", "ACT/365F", 2 / 365.0},
        {"2027-02-28", "2027-03-01", "ACT/365F", 1 / 365.0},
        {"2026-01-15", "2026-01-15", "ACT/365F", 0.0},
        {"2026-01-15", "2027-01-15", "ACT/360", 365 / 360.0},
        {"2028-01-01", "2029-01-01", "ACT/360", 366 / 360.0},
        {"2026-01-15", "2026-07-15", "ACT/360", 181 / 360.0},
        {"2026-01-15", "2027-01-15", "30/360", 1.0},
        {"2026-01-15", "2026-02-15", "30/360", 30 / 360.0},
        {"2026-01-31", "2026-02-28", "30/360", 28 / 360.0},  // the 31st counts as the 30th
        {"2026-02-28", "2026-03-31", "30/360", 33 / 360.0},  // the end of February is no 30th
        {"2028-02-29", "2028-03-31", "30/360", 32 / 360.0},
        {"2026-01-30", "2026-03-31", "30/360", 60 / 360.0},  // after a 30th, the 31st counts as the 30th
        {"2026-01-31", "2026-03-31", "30/360", 60 / 360.0},
        {"2026-01-29", "2026-03-31", "30/360", 62 / 360.0},  // after a 29th, the 31st stays
        {"2026-12-31", "2027-01-31", "30/360", 30 / 360.0},
        {"2026-08-20", "2027-02-20", "30/360", 180 / 360.0},
        {"2027-08-31", "2028-02-29", "30/360", 179 / 360.0},
        {"2026-01-15", "2026-07-15", "ACT/ACT", 181 / 365.0},
        {"2028-01-15", "2028-07-15", "ACT/ACT", 182 / 366.0},  // within a leap year
        {"2027-11-01", "2028-05-01", "ACT/ACT", 61 / 365.0 + 121 / 366.0},
        {"2027-07-01", "2030-07-01", "ACT/ACT", 184 / 365.0 + 1 + 1 + 181 / 365.0},
        {"2100-01-15", "2100-07-15", "ACT/ACT", 181 / 365.0},
        {"2099-07-01", "2100-07-01", "ACT/ACT", 184 / 365.0 + 181 / 365.0},
        {"2200-01-15", "2200-07-15", "ACT/ACT", 181 / 365.0},
        {"1900-01-15", "1900-07-15", "ACT/ACT", 181 / 365.0},
        {"2000-01-15", "2000-07-15", "ACT/ACT", 182 / 366.0},
        {"2096-01-15", "2096-07-15", "ACT/ACT", 182 / 366.0},
        {"2100-02-28", "2100-03-01", "ACT/365F", 1 / 365.0},
        {"2100-02-28", "2100-03-01", "ACT/360", 1 / 360.0},
        {"2100-02-28", "2100-03-31", "30/360", 33 / 360.0},
    };
    for (const auto& c : cases) {
        const auto convention = parse_day_count(c.convention);
        ASSERT_TRUE(convention) << c.convention;
        const double forward = year_fraction(day(c.from), day(c.to), *convention);
        EXPECT_EQ(forward, c.expected) << c.from << " to " << c.to << " in " << c.convention;
        EXPECT_EQ(year_fraction(day(c.to), day(c.from), *convention), -forward)
            << c.to << " back to " << c.from << " in " << c.convention;
    }
    for (const char* name : {"", "act/365f", "ACT/365", "act_365", "30E/360", "ACT/360 "}) {
        EXPECT_FALSE(parse_day_count(name)) << name;
    }
    for (const day_count_entry& entry : day_counts) {
        EXPECT_EQ(parse_day_count(entry.name), entry.code) << entry.name;
        EXPECT_EQ(parse_day_count(entry.word), entry.code) << entry.word;
    }
}

TEST(dates, time_points) {
    const date as_of = day("2026-01-15");
    EXPECT_EQ(time_point{day("2026-01-15")}.years(as_of), 0.0);
    EXPECT_EQ(time_point{day("2027-01-15")}.years(as_of), 1.0);
    EXPECT_EQ(time_point{day("2026-01-14")}.years(as_of), -1 / 365.0);
    EXPECT_EQ(time_point{0.25}.years(as_of), 0.25);
    EXPECT_EQ(to_string(time_point{day("2027-03-31")}), "2027-03-31");
    EXPECT_EQ(to_string(time_point{0.25}), "0.25y");
    EXPECT_EQ(to_string(time_point{0.1}), "0.1y");

    const time_point first{day("2026-01-31")}, second{day("2026-07-31")};
    EXPECT_EQ(year_fraction(first, second, day_count::thirty_360, as_of), 0.5);
    EXPECT_EQ(year_fraction(first, second, day_count::act_360, as_of), 181 / 360.0);
    EXPECT_EQ(year_fraction(time_point{0.25}, time_point{1.0}, day_count::act_360, as_of), 0.75);
    EXPECT_EQ(year_fraction(time_point{day("2027-01-15")}, time_point{1.5}, day_count::act_360, as_of), 0.5);
}

TEST(dates_time_reader, dates_and_years) {
    const auto root = config::parse("a: 2026-03-31\nb: 0.25\nc: '2026-03-31'\nd: -0.5\ne: 2\n", "times.yaml");
    EXPECT_EQ(config::read_time_point(root.at("a")), time_point{day("2026-03-31")});
    EXPECT_EQ(config::read_time_point(root.at("b")), time_point{0.25});
    EXPECT_EQ(config::read_time_point(root.at("c")), time_point{day("2026-03-31")});
    EXPECT_EQ(config::read_time_point(root.at("d")), time_point{-0.5});
    EXPECT_EQ(config::read_time_point(root.at("e")), time_point{2.0});
    EXPECT_EQ(config::read_date(root.at("a")), day("2026-03-31"));
}

TEST(dates_time_reader, refusals_say_where_what_and_what_was_expected) {
    const struct {
        const char* value;
        std::vector<std::string> expected;
    } cases[] = {
        {"2026-02-30", {"there is no day '2026-02-30'"}},
        {"2026-2-3", {"found '2026-2-3'", "expected a date as YYYY-MM-DD"}},
        {"31/03/2026", {"found '31/03/2026'", "expected a date as YYYY-MM-DD"}},
        {"31.03.2026", {"found '31.03.2026'", "expected a date as YYYY-MM-DD"}},
        {"2300-01-01", {"'2300-01-01'", "2299-12-31"}},
        {"1y", {"found '1y'", "a date as YYYY-MM-DD or a number of years", "0.25"}},
        {"0,25", {"found '0,25'", "number of years"}},
        {"nan", {"found 'nan'"}},
        {"inf", {"found 'inf'"}},
        {"1e999", {"found '1e999'"}},
        {"20260331", {"found '20260331'", "between -200 and 200", "YYYY-MM-DD"}},
        {"'0.25'", {"found '0.25'", "expected a date"}},
        {"[1]", {"expected a date as YYYY-MM-DD or a number of years"}},
        {"", {"expected a date as YYYY-MM-DD or a number of years"}},
    };
    for (const auto& c : cases) {
        const auto root = config::parse("x: 1\nmaturity: " + std::string(c.value) + "\n", "times.yaml");
        try {
            config::read_time_point(root.at("maturity"));
            ADD_FAILURE() << c.value << " was read";
        } catch (const error& e) {
            const std::string what = e.what();
            EXPECT_EQ(e.kind(), error_kind::input) << what;
            EXPECT_EQ(e.where().line, 2) << what;
            EXPECT_EQ(e.key_path(), "maturity") << what;
            for (const std::string& part : c.expected) {
                EXPECT_NE(what.find(part), std::string::npos) << what << "\n  lacks: " << part;
            }
        }
    }
    EXPECT_THROW(config::read_date(config::parse("d: 0.25\n", "times.yaml").at("d")), error);
}

}  // namespace

}  // namespace dates_test
