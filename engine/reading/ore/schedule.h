// SPDX-License-Identifier: Apache-2.0
// ORE's schedules, expanded into dates by ORE's rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/reading/ore/fields.h"
#include "engine/reading/ore/names.h"
#include "products/dates/calendar.h"
#include "products/dates/date.h"
#include "tilewalk/value.h"

namespace tilewalk::reading::ore {

struct schedule {
    std::vector<dates::date> dates;  // increasing
    std::string tenor;               // tenor of its rules, such as "6M"; empty for a list of dates
    std::optional<fields> calendar;  // calendar for rolling; empty if none is given
};

// Reads <ScheduleData>, or any element with <Rules> or <Dates>. Throws for rules that are not supported.
schedule read_schedule(const fields& of, const names& known);

dates::roll read_roll(const fields& convention);
// Throws unless the payment dates, rolled by their own convention, are the ends of the periods.
void demand_payments_on(const schedule& periods, const fields& of, const names& known);

value list_of(const std::vector<dates::date>& all, std::size_t first = 0);

}  // namespace tilewalk::reading::ore
