// SPDX-License-Identifier: Apache-2.0
// Readers of numbers by term: rates, volatilities and curves.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/text/document.h"
#include "engine/market/curve.h"
#include "engine/market/ranges.h"
#include "engine/market/volatility.h"
#include "products/dates/date.h"

namespace tilewalk::markets {

// Fail unless `value` is a mapping (a list). `expected` is an example of the right form.
void expect_mapping(const config::node& value, std::string_view expected);
void expect_sequence(const config::node& value, std::string_view expected);

double read_in_range(const config::node& value, range_check check);
double read_rate(const config::node& value);
double read_volatility_level(const config::node& value);
// Valid: above 0 and up to bounds::money. Errors call the number `what`, such as "spot".
double read_positive(const config::node& value, std::string_view what);

curve read_curve(const config::node& value, dates::date as_of, bool may_move = false);
volatility read_volatility(const config::node& value, dates::date as_of);

}  // namespace tilewalk::markets
