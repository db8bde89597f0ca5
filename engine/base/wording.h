// SPDX-License-Identifier: Apache-2.0
// Wording of error messages: texts, numbers, lists of names and suggestions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "products/language/nearest.h"

namespace tilewalk::config {

// In quotes, shortened, control characters escaped.
std::string shown(std::string_view text);
// A name as part of a path: cut if it is long, its control characters escaped.
std::string shortened(std::string_view name);
// The shortest decimal that reads back as the same number; never touched by the locale.
std::string shown(double number);
std::string about(double number);  // to four digits, or to the unit
// Lists and suggestions are those of the language's messages.
using language::alternatives;
using language::joined;
using language::suggestion;
// A hint for complaints about the end of a file.
inline constexpr std::string_view may_be_cut_short = "; the file may be cut short";

}  // namespace tilewalk::config
