// SPDX-License-Identifier: Apache-2.0
// What is refused before YAML is looked at: bytes that are not UTF-8, invisible characters, tabs as
// indentation.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::config {

// The text without a byte order mark. Throws tilewalk::error (input) with the place of the first bad byte;
// `name` is what the text is called there.
std::string_view checked_text(std::string_view bytes, const std::string& name);

}  // namespace tilewalk::config
