// SPDX-License-Identifier: Apache-2.0
// Makes text from files safe to show on a terminal.
#include "tilewalk/printable.h"

namespace tilewalk {

namespace {

// Returns the bytes of the UTF-8 character that `text` begins with; 0 if it is malformed.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    const bool beyond = first == 0xF4 && byte(1) >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

// True for controls of ASCII and Latin-1, and for marks that reorder text or break lines: U+061C, U+200E/F,
// U+2028-202E, U+2066-2069.
bool is_control(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
    if (character.size() == 2) return (byte(0) == 0xC2 && byte(1) < 0xA0) || character == "\xD8\x9C";
    if (character.size() != 3 || byte(0) != 0xE2) return false;
    if (byte(1) == 0x80) return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
    return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        if (length == 0 || is_control(character)) {
            for (const char c : character) {
                const auto byte = static_cast<unsigned char>(c);
                out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
            }
        } else {
            out += character;
        }
        text.remove_prefix(character.size());
    }
    return out;
}

}  // namespace tilewalk
