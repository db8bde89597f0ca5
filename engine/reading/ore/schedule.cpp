// SPDX-License-Identifier: Apache-2.0
// Dates are generated from one end, and dropped if equal after rolling. The last date has its own convention.
#include "engine/reading/ore/schedule.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "engine/base/wording.h"
#include "products/dates/schedule.h"
#include "tilewalk/bounds.h"

namespace tilewalk::reading::ore {

using dates::date;
using dates::period;
using dates::roll;

namespace {

struct rules {
    date start, end;
    period tenor;
    bool is_zero = false, is_backward = false;
    dates::calendar days;
    roll convention = roll::modified_following, last = roll::modified_following;
};

date moved(date from, const period& by, std::int64_t times) {
    const std::int64_t count = times * by.count;
    switch (by.of) {
        case period::unit::week:
            return {static_cast<std::int32_t>(from.serial + 7 * count)};
        case period::unit::month:
            return dates::add_months(from, static_cast<int>(count));
        case period::unit::year:
            return dates::add_months(from, static_cast<int>(12 * count));
        default:
            return {static_cast<std::int32_t>(from.serial + count)};
    }
}

std::vector<date> dates_of(const rules& by) {
    const auto rolled = [&](date d, roll how) { return dates::adjust(d, by.days, how); };
    std::vector<date> out{by.is_backward ? by.end : by.start};
    const date goal = by.is_backward ? by.start : by.end;
    for (std::int64_t k = 1; !by.is_zero; ++k) {
        const date found = by.is_backward ? moved(by.end, by.tenor, -k) : moved(by.start, by.tenor, k);
        if (by.is_backward ? found < goal : found > goal) break;
        if (rolled(out.back(), by.convention) != rolled(found, by.convention)) out.push_back(found);
    }
    const roll at_goal = by.is_backward ? by.convention : by.last;
    if (rolled(out.back(), at_goal) != rolled(goal, at_goal)) out.push_back(goal);
    if (by.is_backward) std::ranges::reverse(out);
    for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i] = rolled(out[i], by.convention);
    out.back() = rolled(out.back(), by.last);
    // As the last date rolls by its own convention, it may come before its neighbour.
    if (out.size() >= 2 && out[out.size() - 2] >= out.back()) {
        out[out.size() - 2] = out.back();
        out.pop_back();
    }
    if (out.size() >= 2 && out[1] <= out[0]) {
        out[1] = out[0];
        out.erase(out.begin());
    }
    return out;
}

period read_tenor(const fields& of) {
    std::string text = of.text();
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto read = dates::parse_period(text);
    if (!read || read->of == period::unit::business_day) of.fail_found("a period, such as 1D, 2W, 6M or 1Y");
    return *read;
}

// True if `d` is the last business day of its month.
bool is_end_of_month(date d, const dates::calendar& days) {
    const date next = dates::adjust({d.serial + 1}, days, roll::following);
    return dates::civil(next).month != dates::civil(d).month;
}

schedule read_rules(const fields& of, const names& known) {
    schedule out;
    rules by;
    by.start = of.need_date("StartDate");
    by.end = of.need_date("EndDate");
    out.tenor = of.word("Tenor").value_or("");
    if (of.has("Convention")) by.convention = read_roll(of.at("Convention"));
    by.last = of.has("TermConvention") ? read_roll(of.at("TermConvention")) : by.convention;
    const bool rolls = by.convention != roll::unadjusted || by.last != roll::unadjusted;
    out.calendar = of.find("Calendar");
    if (out.calendar && rolls) by.days = known.calendar(*out.calendar);
    const std::string rule =
        of.one_of("Rule", {{"Forward", "forward"}, {"Backward", "backward"}, {"Zero", "zero"}}, "forward");
    by.is_backward = rule == "backward";
    by.is_zero = rule == "zero" || by.start == by.end;
    if (!by.is_zero) by.tenor = read_tenor(of.at("Tenor"));
    for (const char* const stub : {"FirstDate", "LastDate"}) {
        if (of.has(stub))
            of.at(stub).fail_found("no stub, which schedules do not have here; list the <Dates>");
    }
    const date from = by.is_backward ? by.end : by.start;
    if (of.truth("EndOfMonth", false) &&
        is_end_of_month(from, out.calendar ? known.calendar(*out.calendar) : dates::calendar()))
        of.at("EndOfMonth")
            .fail_found("false where the dates are counted from the end of a month; list the <Dates>");
    if (by.end < by.start) of.at("EndDate").fail_found("a date that is not before StartDate");
    const std::int64_t shortest = by.is_zero ? 1 << 20 : moved({0}, by.tenor, 1).serial;
    if ((std::int64_t{by.end.serial} - by.start.serial) / std::max<std::int64_t>(shortest, 1) >
        static_cast<std::int64_t>(bounds::schedule_dates))
        of.fail("found more than " + std::to_string(bounds::schedule_dates) + " dates, which is the limit");
    if (by.start == by.end) {
        out.dates = {by.start};
    } else {
        out.dates = dates_of(by);
    }
    return out;
}

schedule read_dates(const fields& of, const names& known) {
    schedule out;
    roll convention = roll::unadjusted;
    if (of.has("Convention")) convention = read_roll(of.at("Convention"));
    out.calendar = of.find("Calendar");
    dates::calendar days;
    if (out.calendar && convention != roll::unadjusted) days = known.calendar(*out.calendar);
    of.ignore({"EndOfMonth"});
    out.tenor = of.word("Tenor").value_or("");
    for (const fields& one : of.at("Dates").all("Date"))
        out.dates.push_back(dates::adjust(one.date(), days, convention));
    if (out.dates.empty()) of.fail("found no <Date>, expected at least one");
    for (std::size_t i = 1; i < out.dates.size(); ++i)
        if (out.dates[i] <= out.dates[i - 1])
            of.fail("found dates that do not increase, expected them in order");
    return out;
}

}  // namespace

schedule read_schedule(const fields& of, const names& known) {
    std::vector<schedule> parts;
    for (const fields& one : of.all("Rules")) parts.push_back(read_rules(one, known));
    for (const fields& one : of.all("Dates")) parts.push_back(read_dates(one, known));
    if (parts.empty()) of.fail("found neither <Rules> nor <Dates> in <" + of.name() + ">");
    if (parts.size() > 1) of.fail("found several <Rules> or <Dates>, expected one of them");
    return parts.front();
}

roll read_roll(const fields& convention) {
    static constexpr std::pair<std::string_view, roll> known[] = {
        {"F", roll::following},
        {"Following", roll::following},
        {"FOLLOWING", roll::following},
        {"MF", roll::modified_following},
        {"ModifiedFollowing", roll::modified_following},
        {"Modified Following", roll::modified_following},
        {"MODIFIEDF", roll::modified_following},
        {"MODFOLLOWING", roll::modified_following},
        {"P", roll::preceding},
        {"Preceding", roll::preceding},
        {"PRECEDING", roll::preceding},
        {"MP", roll::modified_preceding},
        {"ModifiedPreceding", roll::modified_preceding},
        {"Modified Preceding", roll::modified_preceding},
        {"MODIFIEDP", roll::modified_preceding},
        {"U", roll::unadjusted},
        {"Unadjusted", roll::unadjusted},
        {"UNADJUSTED", roll::unadjusted},
    };
    for (const auto& [word, how] : known)
        if (convention.text() == word) return how;
    convention.fail_found("a convention: F, MF, P, MP or U");
}

void demand_payments_on(const schedule& periods, const fields& of, const names& known) {
    for (const char* const lag : {"PaymentLag", "NotionalPaymentLag"}) {
        const auto given = of.word(lag);
        if (given && *given != "0" && *given != "0D")
            of.at(lag).fail_found("0: payments are made on the day on which their period ends");
    }
    dates::calendar days;
    const roll how = of.has("PaymentConvention") ? read_roll(of.at("PaymentConvention")) : roll::following;
    if (how == roll::unadjusted) {
        of.ignore({"PaymentCalendar"});
        return;
    }
    if (of.has("PaymentCalendar")) {
        days = known.calendar(of.at("PaymentCalendar"));
    } else if (periods.calendar) {
        days = known.calendar(*periods.calendar);
    }
    for (std::size_t i = 1; i < periods.dates.size(); ++i) {
        const date end = periods.dates[i], paid = dates::adjust(end, days, how);
        if (paid == end) continue;
        const fields& at = of.has("PaymentConvention") ? of.at("PaymentConvention") : of;
        at.fail("found a period that ends on " + dates::to_string(end) + " and is paid on " +
                dates::to_string(paid) + ", expected payments on the day on which their period ends");
    }
}

value list_of(const std::vector<date>& all, std::size_t first) {
    std::vector<value> out;
    for (std::size_t i = first; i < all.size(); ++i) out.emplace_back(dates::to_string(all[i]));
    return value::list(std::move(out));
}

}  // namespace tilewalk::reading::ore
