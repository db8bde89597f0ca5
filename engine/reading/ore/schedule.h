// SPDX-License-Identifier: Apache-2.0
// ORE's schedules as the dates that they stand for, found as ORE finds them.
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
    std::string tenor;               // of rules: "6M"; else empty
    std::optional<fields> calendar;  // by which it rolls, if it does
};

// Reads <ScheduleData>, or whatever has <Rules> or <Dates>. Refuses rules that are not known here.
schedule read_schedule(const fields& of, const names& known);

dates::roll read_roll(const fields& convention);
// Whether payments on the end of periods, rolled by a convention of their own, stay there; refuses others.
void demand_payments_on(const schedule& periods, const fields& of, const names& known);

// As a list of a book, from the date `first` on.
value list_of(const std::vector<dates::date>& all, std::size_t first = 0);

}  // namespace tilewalk::reading::ore
