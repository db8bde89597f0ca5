// SPDX-License-Identifier: Apache-2.0
// Wording of error messages: texts, numbers, lists of names and suggestions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::config {

// In quotes, shortened, control characters escaped.
std::string shown(std::string_view text);
// A name as part of a path: cut if it is long, its control characters escaped.
std::string shortened(std::string_view name);
// The shortest decimal that reads back as the same number; never touched by the locale.
std::string shown(double number);
// "asian, barrier, european"
std::string joined(const std::vector<std::string>& names);
// "; did you mean 'strike'?", or nothing if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// The suggestion, and behind it what there is: "; did you mean 'strike'? known keys: id, strike". `what` is
// such as "known keys:". Of a long list only the nearest names are told, and how many more there are.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);
// A hint for complaints about the end of a file.
inline constexpr std::string_view may_be_cut_short = "; the file may be cut short";

}  // namespace tilewalk::config
