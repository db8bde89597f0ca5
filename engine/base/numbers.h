// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as texts, the same in every locale, and the number that another spelling was meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::config {

// A finite decimal number and nothing else: no words, no base but ten, no leading zeros, no separators.
std::optional<double> plain_number(std::string_view text);
// A clause for the message about a text that is no number, such as "; write 0.2"; empty if nothing can be
// guessed.
std::string number_hint(std::string_view text);
// The same where true or false is expected.
std::string boolean_hint(std::string_view text);

}  // namespace tilewalk::config
