// SPDX-License-Identifier: Apache-2.0
// Text that is safe and readable on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk {

// The text with control characters and broken UTF-8 spelt out (\x1b), so that a terminal takes no orders from
// a file.
std::string printable(std::string_view text);
// The text with every line that takes more columns than that going on below itself, four further in.
std::string folded(std::string_view text, std::size_t columns);

}  // namespace tilewalk
