// SPDX-License-Identifier: Apache-2.0
// ORE's schedules, expanded to dates like ORE does.
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
    std::string tenor;               // tenor of rules, "6M"; otherwise empty
    std::optional<fields> calendar;  // calendar for rolling; may be empty
};

// Reads <ScheduleData>, or any element with <Rules> or <Dates>. Throws for unsupported rules.
schedule read_schedule(const fields& of, const names& known);

dates::roll read_roll(const fields& convention);
// Throws unless payment dates rolled by their own convention equal the ends of periods.
void demand_payments_on(const schedule& periods, const fields& of, const names& known);

value list_of(const std::vector<dates::date>& all, std::size_t first = 0);

}  // namespace tilewalk::reading::ore
