// SPDX-License-Identifier: Apache-2.0
// Valid ranges of market numbers. Each function returns a complaint about a number out of range, such as
// "found the rate 3.75, expected one between -1 and 1; 3.75 means 375 %; 3.75 % is written 0.0375"; empty if
// the number is valid. `written` is the number as spelt in its file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::markets {

using complaint = std::optional<std::string>;
using range_check = complaint (*)(double number, std::string_view written);

complaint check_rate(double rate, std::string_view written);
// Checks the sign of the factor, and the range of the zero rate that it implies.
complaint check_discount_factor(double factor, double years, std::string_view written);
complaint check_volatility(double level, std::string_view written);
// Stricter than check_volatility: with a quoted volatility of 0 a smile can't be interpolated.
complaint check_quoted_volatility(double level, std::string_view written);
complaint check_correlation(double rho, std::string_view written);
// Valid: above 0 and up to bounds::money. The complaint calls the number `what`, such as "spot".
complaint check_positive(double number, std::string_view what, std::string_view written);
complaint check_dividend(double amount, std::string_view written);
complaint check_dividend_proportion(double proportion, std::string_view written);

}  // namespace tilewalk::markets
