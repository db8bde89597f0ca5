// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes of a file. It also removes what YAML parsers disagree on: yaml-cpp ends a document
// at byte 4, and its versions differ in whether a lone carriage return ends a line.
#include "engine/config/byte_check.h"

#include <cstdint>
#include <cstdio>

#include "tilewalk/error.h"

namespace tilewalk::config {

namespace {

constexpr std::uint32_t not_a_code_point = 0xffffffff;

struct decoded {
    std::uint32_t code_point = not_a_code_point;
    std::size_t bytes = 1;
};

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
decoded decode(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    const std::uint32_t first = byte(at);
    if (first < 0x80) return {first, 1};
    std::size_t length = 0;
    std::uint32_t least = 0, value = 0;
    if (first >= 0xc2 && first <= 0xdf)
        length = 2, least = 0x80, value = first & 0x1f;
    else if (first >= 0xe0 && first <= 0xef)
        length = 3, least = 0x800, value = first & 0x0f;
    else if (first >= 0xf0 && first <= 0xf4)
        length = 4, least = 0x10000, value = first & 0x07;
    if (length == 0 || at + length > text.size()) return {};
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(at + i) & 0x3f);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
    return {value, length};
}

std::string hexadecimal(std::uint32_t value, int digits) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*X", digits, static_cast<unsigned>(value));
    return text;
}

bool is_forbidden(std::uint32_t c) {
    const bool is_space = c == '\t' || c == '\n' || c == '\r';
    return (c < 0x20 && !is_space) || c == 0x7f || (c >= 0x80 && c < 0xa0 && c != 0x85) || c == 0xfeff ||
           c == 0xfffe || c == 0xffff;
}

}  // namespace

std::string_view checked_text(std::string_view bytes, const std::string& name) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (bytes.substr(0, 3) == byte_order_mark) bytes.remove_prefix(3);

    int line = 1;
    std::size_t line_start = 0;
    bool in_indentation = true;
    const auto refuse = [&](std::size_t at, const std::string& message) {
        throw error(error_kind::input, message, {name, line, static_cast<int>(at - line_start) + 1});
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const auto [c, length] = decode(bytes, at);
        if (c == not_a_code_point) {
            const auto byte = static_cast<unsigned char>(bytes[at]);
            refuse(at, "found the byte 0x" + hexadecimal(byte, 2) + ", expected text in UTF-8");
        }
        if (is_forbidden(c)) {
            refuse(at, "found the invisible character U+" + hexadecimal(c, 4) + ", expected plain text");
        }
        if (c == '\r' && bytes.substr(at + 1, 1) != "\n") {
            refuse(
                at,
                "found a carriage return with no line feed after it, expected lines that end in a line feed");
        }
        if (c == '\t' && in_indentation) {
            const std::size_t text = bytes.find_first_not_of(" \t\r", at);
            if (text != std::string_view::npos && bytes[text] != '\n') {
                refuse(at, "found a tab in the indentation, expected spaces");
            }
        }
        if (c != ' ') in_indentation = false;
        at += length;
        if (c == '\n') {
            ++line;
            line_start = at;
            in_indentation = true;
        }
    }
    return bytes;
}

}  // namespace tilewalk::config
