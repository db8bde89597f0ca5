// SPDX-License-Identifier: Apache-2.0
// Valid ranges of market numbers. The functions return the complaint about a number out of range, such as
// "found the rate 3.75, expected one between -1 and 1; 3.75 means 375 %; 3.75 % is written 0.0375", or empty.
// `written` is the number as its file has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::markets {

using complaint = std::optional<std::string>;
using range_check = complaint (*)(double number, std::string_view written);

complaint check_rate(double rate, std::string_view written);
// Checks the zero rate that the factor implies.
complaint check_discount_factor(double factor, double years, std::string_view written);
complaint check_volatility(double level, std::string_view written);
// Stricter than check_volatility: a quote of 0 would leave no smile.
complaint check_quoted_volatility(double level, std::string_view written);
complaint check_correlation(double rho, std::string_view written);
// Range: above 0 and up to bounds::money. The complaint calls the number `what`.
complaint check_positive(double number, std::string_view what, std::string_view written);
complaint check_dividend(double amount, std::string_view written);
complaint check_dividend_proportion(double proportion, std::string_view written);

}  // namespace tilewalk::markets
