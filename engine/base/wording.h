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

// Returns a text for messages: quoted, cut if long, with control characters escaped.
std::string shown(std::string_view text);
// Returns a name or path for messages: without quotes, cut if long, with control characters escaped.
std::string shortened(std::string_view name);
// Returns the shortest decimal that reads back as the same number, in any locale.
std::string shown(double number);
std::string about(double number);  // to four digits; from 1000 on to whole numbers
using language::alternatives;
using language::joined;
using language::suggestion;
// Returns a list of at most `most` pairs, such as "ACME and BETA, ACME and EURUSD and 3 more".
std::string pairs_text(const std::vector<factor_pair>& pairs, std::size_t most = 4);
// Words added to a complaint at the end of a file.
inline constexpr std::string_view may_be_cut_short = "; the file may be cut short";

}  // namespace tilewalk::config
