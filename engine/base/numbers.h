// SPDX-License-Identifier: Apache-2.0
// Reads decimal numbers in any locale, and hints at what a number in another spelling meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewalk::config {

// Reads a finite decimal number: no words, no other base, no leading zeros, no separators.
std::optional<double> plain_number(std::string_view text);
// Returns a clause for messages, such as "; write 0.2"; empty if the number meant can't be guessed.
std::string number_hint(std::string_view text);
std::string boolean_hint(std::string_view text);

}  // namespace tilewalk::config
