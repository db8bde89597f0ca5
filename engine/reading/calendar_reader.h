// SPDX-License-Identifier: Apache-2.0
// Calendars that a book defines, or reads from other files.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/base/text/document.h"
#include "products/dates/calendar.h"

namespace tilewalk::books {

using calendars = std::map<std::string, dates::calendar, std::less<>>;

calendars usual_calendars();

// Reads a calendar such as {holidays: [2026-12-25], weekend: [saturday, sunday]}.
dates::calendar read_calendar(const config::node& definition);

struct business_days {
    dates::calendar days;
    dates::roll rule = dates::roll::unadjusted;
};
business_days read_business_days(const config::node& of, const calendars& known);

}  // namespace tilewalk::books
