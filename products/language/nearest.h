// SPDX-License-Identifier: Apache-2.0
// Wording of messages: lists of names, and suggestions for a misspelt one; see nearest() in product.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::language {

// "asian, barrier, european": the words, separated by `between`, the last two by `last` if given.
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ",
                   std::string_view last = {});
// "; did you mean 'strike'?", or empty if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// The suggestion, then the known names: "; did you mean 'strike'? known keys: id, strike". `what` is a phrase
// such as "known keys:". A long list is cut to the nearest names and the number of others.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);
// "asian, barrier, european"; of a long list only the nearest names, "and 39 more".
std::string listed(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace tilewalk::language
