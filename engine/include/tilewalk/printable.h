// SPDX-License-Identifier: Apache-2.0
// Makes text safe and readable on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk {

// Escapes control characters and broken UTF-8, as in \x1b, so that a file can't control the terminal.
std::string printable(std::string_view text);
// Breaks lines longer than `columns`; continuations are indented by four more.
std::string folded(std::string_view text, std::size_t columns);

}  // namespace tilewalk
