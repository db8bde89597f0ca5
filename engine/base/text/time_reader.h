// SPDX-License-Identifier: Apache-2.0
// Reads dates and times in YAML: "2027-03-31" is a date, "0.25" a number of years from as_of.
#pragma once

#include <string>

#include "engine/base/text/document.h"
#include "products/dates/date.h"

namespace tilewalk::config {

// Reads a date or a plain number of years. A quoted scalar can only be a date.
dates::time_point read_time_point(const node& value);
dates::date read_date(const node& value);

// Read the key of a member in the same way.
dates::time_point read_time_point(const node::member& of);
dates::date read_date(const node::member& of);

// Read text that is not a node. Errors have no place.
dates::time_point read_time_point(const std::string& text);
dates::date read_date(const std::string& text);

}  // namespace tilewalk::config
