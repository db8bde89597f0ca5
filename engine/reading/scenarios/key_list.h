// SPDX-License-Identifier: Apache-2.0
// The list of a market's keys.
#pragma once

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/written_market.h"
#include "products/dates/date.h"

namespace tilewalk::markets {

// A time as keys name it: "2027-01-15", "0.5y".
std::string time_name(const std::string& written);

// Every number of a market that was read without a complaint, in the order of the file.
std::vector<keyed_number> list_keys(const config::node& root, dates::date as_of);

}  // namespace tilewalk::markets
