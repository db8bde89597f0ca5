// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/written_market.h"
#include "products/dates/date.h"

namespace tilewalk::markets {

// Returns a time in the spelling of market keys: "2027-01-15", "0.5y".
std::string time_name(const std::string& written);

std::vector<keyed_number> list_keys(const config::node& root, dates::date as_of);

}  // namespace tilewalk::markets
