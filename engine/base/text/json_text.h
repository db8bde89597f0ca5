// SPDX-License-Identifier: Apache-2.0
// Reads JSON directly. Programs write whole books into one line, where yaml-cpp is many times slower;
// nlohmann-json does not tell places. Python's NaN and Infinity pass; all else is as in RFC 8259.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/text/unicode.h"

namespace tilewalk::config {

// A place in a text that grows while it is read. Offset, line and column count from 0.
struct json_place {
    std::size_t at = 0;
    int line = 0, column = 0;
};

// Scans a text that is one object, optionally followed by a line "...". `hears` supplies the text so far
// (text()), extends it (grow(), false at the end) and receives the events.
template <class listener>
class json_text {
  public:
    struct fault {
        json_place where;
        std::string message;
    };

    // Scanning fails after `most_silent` bytes without an event.
    json_text(listener& hears, std::size_t most_silent)
        : hears_(hears), most_silent_(most_silent), text_(hears.text()) {}

    // Returns the first fault; empty if there is none. Events before a fault are right.
    std::optional<fault> scan() {
        hears_.line_starts(0);
        if (value()) end();
        return std::move(fault_);
    }

  private:
    static constexpr char no_char = '\0';  // end of the text; no checked text contains it

    char now() {
        if (at_ < text_.size()) return text_[at_];
        return grow() ? text_[at_] : no_char;
    }
    bool grow() {
        if (fault_) return false;
        if (text_.size() - told_ > most_silent_) {
            fault_ = fault{here(), "no value ends within " + std::to_string(most_silent_) +
                                       " bytes, which is the limit; is a quote left open?"};
            return false;
        }
        const bool has_grown = hears_.grow();
        text_ = hears_.text();
        return has_grown && at_ < text_.size();
    }
    bool has(std::size_t bytes) {
        while (text_.size() - at_ < bytes)
            if (!grow()) return false;
        return true;
    }
    json_place here() const { return {at_, line_, static_cast<int>(at_ - line_start_)}; }

    bool refuse(const std::string& expected) {
        if (fault_) return false;
        const json_place where = here();
        std::string found = "the end of the file";
        if (now() != no_char) {
            has(4);  // make sure that a whole character was read
            found = "'" + std::string(text_.substr(at_, decode(text_, at_).bytes)) + "'";
        }
        fault_ = fault{where, "found " + found + ", expected " + expected};
        return false;
    }
    bool refuse_here(const std::string& message) {
        if (!fault_) fault_ = fault{here(), message};
        return false;
    }

    void spaces() {
        for (char c = now(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = now()) {
            ++at_;
            if (c != '\n') continue;
            ++line_;
            line_start_ = at_;
            hears_.line_starts(at_);
        }
    }

    bool value() {
        const json_place where = here();
        switch (now()) {
            case '{':
                hears_.mapping_starts(where);
                ++at_;
                return members();
            case '[':
                hears_.sequence_starts(where);
                ++at_;
                return items();
            case '"':
                if (!string()) return false;
                tell_quoted(where);
                return true;
            case 't':
                return word("true");
            case 'f':
                return word("false");
            case 'n':
                return word("null");
            case 'N':
                return word("NaN");
            case 'I':
                return word("Infinity");
            default:
                return number();
        }
    }
    bool members() {
        spaces();
        if (now() != '}') {
            while (true) {
                if (!member()) return false;
                spaces();
                if (now() == '}') break;
                if (now() != ',') return refuse("a ',' or a '}'");
                ++at_;
                spaces();
            }
        }
        told_ = ++at_;
        hears_.mapping_ends();
        return true;
    }
    bool member() {
        const json_place where = here();
        if (now() != '"') return refuse("a key in double quotes");
        if (!string()) return false;
        tell_quoted(where);
        spaces();
        if (now() != ':') return refuse("a ':'");
        ++at_;
        spaces();
        return value();
    }
    bool items() {
        spaces();
        if (now() != ']') {
            while (true) {
                if (!value()) return false;
                spaces();
                if (now() == ']') break;
                if (now() != ',') return refuse("a ',' or a ']'");
                ++at_;
                spaces();
            }
        }
        told_ = ++at_;
        hears_.sequence_ends();
        return true;
    }

    void tell_quoted(const json_place& where) {
        told_ = at_;
        hears_.quoted(where, word_);
    }
    bool word(std::string_view wanted) {
        has(wanted.size() + 1);
        const std::string_view found = text_.substr(at_, wanted.size());
        if (found != wanted || is_in_word(text_.substr(at_ + wanted.size(), 1))) return refuse("a value");
        const json_place where = here();
        at_ += wanted.size();
        told_ = at_;
        hears_.plain(where, wanted);
        return true;
    }
    static bool is_in_word(std::string_view c) {
        return !c.empty() && ((c[0] >= 'a' && c[0] <= 'z') || (c[0] >= 'A' && c[0] <= 'Z') ||
                              (c[0] >= '0' && c[0] <= '9') || c[0] == '_');
    }

    bool digits() {
        const std::size_t start = at_;
        while (now() >= '0' && now() <= '9') ++at_;
        return at_ > start;
    }
    bool number() {
        const json_place where = here();
        if (now() == '-') {
            ++at_;
            if (now() == 'I') {
                --at_;
                return word("-Infinity");
            }
        }
        const bool has_zero = now() == '0';
        const std::size_t start = at_;
        if (!digits()) return refuse("a value");
        if (has_zero && at_ > start + 1) {
            at_ = start;
            return refuse_here("found a number that begins with 0, expected one without");
        }
        if (now() == '.') {
            ++at_;
            if (!digits()) return refuse("a digit");
        }
        if (now() == 'e' || now() == 'E') {
            ++at_;
            if (now() == '+' || now() == '-') ++at_;
            if (!digits()) return refuse("a digit");
        }
        told_ = at_;
        hears_.plain(where, text_.substr(where.at, at_ - where.at));
        return true;
    }

    bool string() {
        ++at_;
        std::size_t start = at_;
        bool is_copied = false;
        const auto copy = [&] {
            if (!is_copied) copy_.clear();
            is_copied = true;
            copy_ += text_.substr(start, at_ - start);
        };
        while (true) {
            while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
                   static_cast<unsigned char>(text_[at_]) >= ' ')
                ++at_;
            const char c = now();
            if (c == '"') break;
            if (c != '\\') {
                if (c != no_char && static_cast<unsigned char>(c) >= ' ') continue;  // now() read more
                return c == no_char
                           ? refuse("a closing quote")
                           : refuse_here("found a line break or a tab in a text, expected \\n or \\t");
            }
            copy();
            if (!escape()) return false;
            start = at_;
        }
        if (is_copied) copy();
        word_ = is_copied ? std::string_view(copy_) : text_.substr(start, at_ - start);
        ++at_;
        return true;
    }
    bool escape() {
        constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        has(2);
        const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : no_char;
        if (letter == 'u') return escaped_code();
        const std::size_t which = letter == no_char ? letters.npos : letters.find(letter);
        if (which == letters.npos) return refuse("an escape that JSON has, such as \\n or \\u00e9");
        copy_ += meanings[which];
        at_ += 2;
        return true;
    }
    bool escaped_code() {
        const std::uint32_t first = unit_at(at_);
        if (first == not_a_code_point) return refuse("\\u and four hexadecimal digits");
        if (first < 0xd800 || first > 0xdfff) {
            append_utf8(first, copy_);
            at_ += 6;
            return true;
        }
        const std::uint32_t second = first < 0xdc00 ? unit_at(at_ + 6) : not_a_code_point;
        if (second < 0xdc00 || second > 0xdfff)
            return refuse_here(
                "found one half of a pair of surrogates, expected both halves, as in \\ud83d\\ude00");
        append_utf8(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), copy_);
        at_ += 12;
        return true;
    }
    std::uint32_t unit_at(std::size_t at) {
        has(at - at_ + 6);
        if (text_.substr(at, 2) != "\\u" || text_.size() < at + 6) return not_a_code_point;
        std::uint32_t value = 0;
        for (const char c : text_.substr(at + 2, 4)) {
            const bool is_digit = c >= '0' && c <= '9';
            const char lower = static_cast<char>(c | 0x20);
            if (!is_digit && (lower < 'a' || lower > 'f')) return not_a_code_point;
            value = value * 16 + static_cast<std::uint32_t>(is_digit ? c - '0' : lower - 'a' + 10);
        }
        return value;
    }

    bool end() {
        spaces();
        has(4);
        if (at_ == line_start_ && text_.substr(at_, 3) == "...") {
            at_ += 3;
            spaces();
        }
        return now() == no_char || refuse("the end of the file");
    }

    listener& hears_;
    const std::size_t most_silent_;
    std::size_t told_ = 0;  // where the last event ended
    std::string_view text_;
    std::size_t at_ = 0, line_start_ = 0;
    int line_ = 0;
    std::string copy_;
    std::string_view word_;  // last string; valid until the next, or until the text grows
    std::optional<fault> fault_;
};

}  // namespace tilewalk::config
