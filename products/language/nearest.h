// SPDX-License-Identifier: Apache-2.0
// Wording of messages: lists of names, and suggestions for one that is misspelt; see nearest() in product.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::language {

// "asian, barrier, european"; `last` stands between the last two, where it is another word.
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ",
                   std::string_view last = {});
// "; did you mean 'strike'?", or nothing if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// The suggestion, and behind it what there is: "; did you mean 'strike'? known keys: id, strike". `what` is
// such as "known keys:". A long list is cut to the nearest names, and says how many more there are.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);
// "asian, barrier, european"; of a long list those nearest to the misspelt one, "and 39 more".
std::string listed(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace tilewalk::language
