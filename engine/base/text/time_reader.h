// SPDX-License-Identifier: Apache-2.0
// Dates and times in YAML: "2027-03-31" is a date, "0.25" a number of years from as_of.
#pragma once

#include <string>

#include "engine/base/text/document.h"
#include "products/dates/date.h"

namespace tilewalk::config {

// A date or a plain number of years; a quoted scalar can only be a date.
dates::time_point read_time_point(const node& value);
dates::date read_date(const node& value);

// The same for the key of a member.
dates::time_point read_time_point(const node::member& of);
dates::date read_date(const node::member& of);

// The same for text that is no value of its own. Complaints name no place.
dates::time_point read_time_point(const std::string& text);
dates::date read_date(const std::string& text);

}  // namespace tilewalk::config
