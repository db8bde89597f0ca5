// SPDX-License-Identifier: Apache-2.0
// Wording of error messages: texts, numbers, lists of names and suggestions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "products/language/nearest.h"

namespace tilewalk {
struct factor_pair;
}

namespace tilewalk::config {

// Quoted, shortened, control characters escaped.
std::string shown(std::string_view text);
// For a path: cut if long, control characters escaped.
std::string shortened(std::string_view name);
// The shortest decimal that reads back as the same number, in any locale.
std::string shown(double number);
std::string about(double number);  // to four digits, or to the unit
// to four digits, or to the unit
using language::alternatives;
using language::joined;
using language::suggestion;
// Returns such as "ACME and BETA, ACME and EURUSD and 3 more".
std::string pairs_text(const std::vector<factor_pair>& pairs, std::size_t most = 4);
// Appended to complaints about the end of a file.
inline constexpr std::string_view may_be_cut_short = "; the file may be cut short";

}  // namespace tilewalk::config
