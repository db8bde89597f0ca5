// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 as a terminal sets them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewalk::report {

// Splits a text into characters, each with all that combines with it.
std::vector<std::string_view> clusters(std::string_view utf8);
// Columns that a cluster takes: 0, 1 or 2.
std::size_t cluster_width(std::string_view cluster);

}  // namespace tilewalk::report
