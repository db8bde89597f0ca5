// SPDX-License-Identifier: Apache-2.0
// Reads and checks the terms of a trade against their declarations.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/calendar_reader.h"
#include "products/language/product.h"

namespace tilewalk::books {

// Keys of any trade besides its product's terms. Examples in product files may use all but the first two.
inline constexpr std::array<std::string_view, 7> trade_keys{"id",     "product",   "currency", "quantity",
                                                            "report", "tolerance", "portfolio"};

double most_of(language::parameter_type type);
double read_bounded(const config::node& value, double most);

// Reads one term. `others` has the schedule or asset list that the parameter is declared `per`; a single
// value then applies to all its entries. `known`: calendars for schedules. Throws tilewalk::error (input).
language::argument read_argument(const config::node& value, const language::parameter& declared,
                                 const language::arguments& others,
                                 const calendars& known = usual_calendars());

// Reads all terms and fills in defaults. Throws for a key that is neither a parameter nor in `other_keys`.
language::arguments read_arguments(const config::node& trade,
                                   const std::vector<language::parameter>& parameters,
                                   const std::vector<std::string>& other_keys,
                                   const calendars& known = usual_calendars());

}  // namespace tilewalk::books
