// SPDX-License-Identifier: Apache-2.0
// Checks each byte once. Refuses texts, too, that YAML parsers read differently: yaml-cpp ends a document at
// byte 4, and its versions differ in whether a lone carriage return ends a line.
#include "engine/base/text/byte_check.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "engine/base/text/unicode.h"
#include "tilewalk/error.h"

namespace tilewalk::config {

namespace {

std::string hexadecimal(std::uint32_t value, int digits) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*X", digits, static_cast<unsigned>(value));
    return text;
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
    if (at_ == 0 && !text.starts_with('{')) takes_json_ = false;
    while (at_ < text.size()) {
        if (!in_indentation_ && tab_ == none_) {
            const std::size_t end =
                takes_json_ ? text.size() : std::min(text.size(), line_start_ + most_line_bytes_);
            while (at_ < end && text[at_] >= ' ' && text[at_] <= '~') ++at_;
            if (at_ == text.size()) return;
        }
        // The end of the text so far may cut a character, or a carriage return from its line feed.
        if (!is_whole && text.size() - at_ < longest_character) return;
        const auto [c, length] = decode(text, at_);
        if (c == not_a_code_point) {
            const auto byte = static_cast<unsigned char>(text[at_]);
            refuse(at_, "found the byte 0x" + hexadecimal(byte, 2) + ", expected text in UTF-8");
        }
        if (is_forbidden(c)) {
            refuse(at_, "found the invisible character " + named(c) + ", expected plain text");
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
            has_long_line_ = has_long_line_ || at_ - length - line_start_ > most_line_bytes_;
            ++line_;
            line_start_ = at_;
            in_indentation_ = true;
            tab_ = none_;
        } else if (!takes_json_ && at_ - line_start_ > most_line_bytes_) {
            refuse(line_start_ + most_line_bytes_,
                   "found a line of more than " + std::to_string(most_line_bytes_) +
                       " bytes, which is the limit for all but JSON; break it into several lines" +
                       (text.starts_with('{') ? ", such as by indent=1 of Python's json.dump" : ""));
        }
    }
}

}  // namespace tilewalk::config
