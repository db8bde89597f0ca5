// SPDX-License-Identifier: Apache-2.0
// Ranges of the numbers of a market, for files of markets and for histories of their levels. Each function
// returns the complaint about a number outside its range, such as "found the rate 3.75, expected one between
// -1 and 1; 3.75 means 375 %; 3.75 % is written 0.0375", or nothing. `written`: the number as its file has
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::markets {

using complaint = std::optional<std::string>;
using range_check = complaint (*)(double number, std::string_view written);

complaint check_rate(double rate, std::string_view written);
// By its zero rate.
complaint check_discount_factor(double factor, double years, std::string_view written);
complaint check_volatility(double level, std::string_view written);
// Quoted by strike or moneyness, where a volatility of 0 has no smile.
complaint check_quoted_volatility(double level, std::string_view written);
complaint check_correlation(double rho, std::string_view written);
// More than 0 and at most bounds::money; `what` is how the complaint calls it.
complaint check_positive(double number, std::string_view what, std::string_view written);
complaint check_dividend(double amount, std::string_view written);
complaint check_dividend_proportion(double proportion, std::string_view written);

}  // namespace tilewalk::markets
