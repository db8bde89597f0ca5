// SPDX-License-Identifier: Apache-2.0
// Patterns of names, such as "*.volatility@*", in which * matches any text.
#pragma once

#include <string_view>

namespace tilewalk::config {

// Returns whether the pattern matches the whole text, in at most pattern.size() * text.size() steps.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace tilewalk::config
