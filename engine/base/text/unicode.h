// SPDX-License-Identifier: Apache-2.0
// Facts about characters: their UTF-8, whether they are visible, whether they have another spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewalk::config {

inline constexpr std::uint32_t not_a_code_point = 0xffffffff;

struct decoded {
    std::uint32_t code_point = not_a_code_point;
    std::size_t bytes = 1;
};
// Decodes the character at `at`. Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
decoded decode(std::string_view text, std::size_t at);
void append_utf8(std::uint32_t code_point, std::string& to);
// Replaces each byte that is not UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);
std::string named(std::uint32_t code_point);

// True for controls, byte order marks, and marks that reorder or end a line unseen: no input may have any.
bool is_forbidden(std::uint32_t code_point);
// True for white space of any script, and for characters of no width.
bool is_blank(std::uint32_t code_point);
// True for a variation selector, which only says how the character before is drawn.
bool is_selector(std::uint32_t code_point);

// Returns the first character at which a text may not be in the normal form NFC; not_a_code_point if all of
// it is. Two different NFC texts are never canonically equivalent.
std::uint32_t not_composed(std::string_view text);

}  // namespace tilewalk::config
