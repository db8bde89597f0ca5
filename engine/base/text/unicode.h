// SPDX-License-Identifier: Apache-2.0
// Facts about single characters: how UTF-8 holds them, which of them nobody sees, and which have
// another spelling.
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
// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
decoded decode(std::string_view text, std::size_t at);
void append_utf8(std::uint32_t code_point, std::string& to);
// The text with a replacement character, U+FFFD, for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);
// "U+00E9"
std::string named(std::uint32_t code_point);

// Control characters, byte order marks, and what changes the order in which a terminal shows a line or ends
// one unseen: in no text of ours.
bool is_forbidden(std::uint32_t code_point);
// White space of any script, and what takes no room at all.
bool is_blank(std::uint32_t code_point);
// True of a character that only says how the one in front is drawn.
bool is_selector(std::uint32_t code_point);

// The first character from which on a text may not be in the normal form NFC, so that another text of the
// same characters may look just like it; not_a_code_point if the text is. Two texts that both are and differ
// are different for everybody.
std::uint32_t not_composed(std::string_view text);

}  // namespace tilewalk::config
