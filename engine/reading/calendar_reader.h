// SPDX-License-Identifier: Apache-2.0
// Calendars in a book: those that it defines, and the names by which its dates ask for them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/base/text/document.h"
#include "products/dates/calendar.h"

namespace tilewalk::books {

using calendars = std::map<std::string, dates::calendar, std::less<>>;

// The calendars that every book has: none and weekends.
calendars usual_calendars();

// A definition: {holidays: [2026-12-25], weekend: [saturday, sunday]}.
dates::calendar read_calendar(const config::node& definition);

// `calendar` and `roll` of a schedule or a date.
struct business_days {
    dates::calendar days;
    dates::roll rule = dates::roll::unadjusted;
};
business_days read_business_days(const config::node& of, const calendars& known);

}  // namespace tilewalk::books
