// SPDX-License-Identifier: Apache-2.0
// Wording of the market's error messages: rounded numbers, and names that are not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::markets {

// Six digits, which is enough to recognise a computed number by; never touched by the locale.
std::string rounded(double value);
// "unknown currency 'USF'; did you mean 'USD'? known: EUR, GBP, USD"
std::string unknown_name(std::string_view what, const std::string& name,
                         const std::vector<std::string>& known);

}  // namespace tilewalk::markets
