// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes of a file. It also refuses what YAML parsers disagree on: yaml-cpp ends a document
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

// Control characters, second byte order marks, and what changes the order in which a terminal shows a line or
// ends one unseen.
bool is_forbidden(std::uint32_t c) {
    if (c >= 0x20 && c < 0x7f) return false;
    const bool is_space = c == '\t' || c == '\n' || c == '\r';
    return (c < 0x20 && !is_space) || (c >= 0x7f && c < 0xa0) || c == 0x200b || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0xfffe ||
           c == 0xffff;
}

}  // namespace

void byte_check::refuse(std::size_t at, const std::string& message) const {
    throw error(error_kind::input, message, {name_, line_, static_cast<int>(at - line_start_) + 1});
}

void byte_check::look(std::string_view text, bool is_whole) {
    constexpr std::size_t longest_character = 4;
    if (at_ == 0 && (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))) {
        refuse(0, "found the byte 0x" + hexadecimal(static_cast<unsigned char>(text[0]), 2) +
                      ", with which a text in UTF-16 begins, expected text in UTF-8");
    }
    while (at_ < text.size()) {
        // A character, and what follows a carriage return, may be cut where the text ends for now.
        if (!is_whole && text.size() - at_ < longest_character) return;
        const auto [c, length] = decode(text, at_);
        if (c == not_a_code_point) {
            const auto byte = static_cast<unsigned char>(text[at_]);
            refuse(at_, "found the byte 0x" + hexadecimal(byte, 2) + ", expected text in UTF-8");
        }
        if (is_forbidden(c)) {
            refuse(at_, "found the invisible character U+" + hexadecimal(c, 4) + ", expected plain text");
        }
        if (c == '\r' && text.substr(at_ + 1, 1) != "\n") {
            refuse(
                at_,
                "found a carriage return with no line feed after it, expected lines that end in a line feed");
        }
        if (tab_ != none_ && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            refuse(tab_, "found a tab in the indentation, expected spaces");
        }
        if (c == '\t' && in_indentation_) tab_ = at_;
        if (c != ' ') in_indentation_ = false;
        at_ += length;
        if (c == '\n') {
            ++line_;
            line_start_ = at_;
            in_indentation_ = true;
            tab_ = none_;
        } else if (at_ - line_start_ > most_line_bytes_) {
            refuse(line_start_ + most_line_bytes_, "found a line of more than " +
                                                       std::to_string(most_line_bytes_) +
                                                       " bytes, which is the limit; break it into several");
        }
    }
}

}  // namespace tilewalk::config
