// SPDX-License-Identifier: Apache-2.0
// Patterns of names, such as "*.volatility@*", in which * stands for any text.
#pragma once

#include <string_view>

namespace tilewalk::config {

// Whether the whole text fits the pattern. Takes at most as many steps as the two have pairs of characters.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace tilewalk::config
