// SPDX-License-Identifier: Apache-2.0
// Wording of the market's error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::markets {

// The number with six significant digits, whatever the locale.
std::string rounded(double value);
// Returns such as "unknown currency 'USF'; did you mean 'USD'? known: EUR, GBP, USD".
std::string unknown_name(std::string_view what, const std::string& name,
                         const std::vector<std::string>& known);

}  // namespace tilewalk::markets
