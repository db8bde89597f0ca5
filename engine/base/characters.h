// SPDX-License-Identifier: Apache-2.0
// Splits UTF-8 into characters as a terminal shows them, and measures their widths.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewalk::report {

// Splits a text into characters, each with the marks that combine with it (a cluster).
std::vector<std::string_view> clusters(std::string_view utf8);
// Returns the columns that a cluster takes in a terminal: 0, 1 or 2.
std::size_t cluster_width(std::string_view cluster);

}  // namespace tilewalk::report
