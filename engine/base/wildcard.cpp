// SPDX-License-Identifier: Apache-2.0
#include "engine/base/wildcard.h"

#include <cstddef>

namespace tilewalk::config {

bool fits(std::string_view pattern, std::string_view text) {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t p = 0, t = 0, star = none, taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != none) {
            // Let the last star take one more character. Earlier stars need no retry.
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace tilewalk::config
