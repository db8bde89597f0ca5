// SPDX-License-Identifier: Apache-2.0
// Lists of known names for messages about a misspelt one; see nearest() in product.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::language {

// "asian, barrier, european"; of a long list those nearest to the misspelt one, "and 39 more".
std::string listed(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace tilewalk::language
