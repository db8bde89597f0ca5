// SPDX-License-Identifier: Apache-2.0
// From the terms of a trade in YAML to arguments that fit their declarations: the one place where a term is
// checked.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/calendar_reader.h"
#include "products/language/product.h"

namespace tilewalk::books {

// Keys of a trade besides its product's own terms. An example in a product's file has all but the first two.
inline constexpr std::array<std::string_view, 7> trade_keys{"id",     "product",   "currency", "quantity",
                                                            "report", "tolerance", "portfolio"};

// The most that a number of this type may be, without its sign.
double most_of(language::parameter_type type);
// A number with such a bound.
double read_bounded(const config::node& value, double most);

// One term. `others` holds the schedule or asset list that the parameter is declared `per`; a single value
// stands for all of its members. `known` are the calendars that a schedule may name. Throws tilewalk::error
// (input).
language::argument read_argument(const config::node& value, const language::parameter& declared,
                                 const language::arguments& others,
                                 const calendars& known = usual_calendars());

// All terms of a trade, defaults filled in. Keys in `other_keys` are somebody else's; any further key is
// refused.
language::arguments read_arguments(const config::node& trade,
                                   const std::vector<language::parameter>& parameters,
                                   const std::vector<std::string>& other_keys,
                                   const calendars& known = usual_calendars());

}  // namespace tilewalk::books
