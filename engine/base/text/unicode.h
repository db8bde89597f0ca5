// SPDX-License-Identifier: Apache-2.0
// Facts about single characters: their UTF-8, which are invisible, which have another spelling.
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
// Replaces each byte that is not UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);
std::string named(std::uint32_t code_point);

// Controls, byte order marks, and marks that reorder or end a line unseen. No input may hold them.
bool is_forbidden(std::uint32_t code_point);
// White space of any script and zero-width characters.
bool is_blank(std::uint32_t code_point);
// A character that only says how the one before is drawn.
bool is_selector(std::uint32_t code_point);

// The first character at which a text may leave the normal form NFC, so that a different text might look
// alike; not_a_code_point if it is NFC. Different NFC texts are canonically different.
std::uint32_t not_composed(std::string_view text);

}  // namespace tilewalk::config
