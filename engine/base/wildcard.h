// SPDX-License-Identifier: Apache-2.0
// Patterns of names, such as "*.volatility@*", in which * stands for any text.
#pragma once

#include <string_view>

namespace tilewalk::config {

// Whether the whole text fits. At most pattern.size() * text.size() steps.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace tilewalk::config
