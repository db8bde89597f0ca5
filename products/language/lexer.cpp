// SPDX-License-Identifier: Apache-2.0
#include "products/language/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tilewalk::language {

namespace {

constexpr std::array<std::string_view, 16> words{"on",   "between", "and",   "or",    "not", "if",
                                                 "elif", "else",    "for",   "in",    "pay", "stop",
                                                 "at",   "true",    "false", "refuse"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Longest word and text of a script: messages quote them, so their length is bounded.
constexpr std::size_t most_word_bytes = 100, most_text_bytes = 500;

std::string shown(char c) {
    if (c > ' ' && c < 127) return std::string("'") + c + "'";
    constexpr std::string_view digits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    return std::string("the character 0x") + digits[code >> 4U] + digits[code & 15U];
}

class lexer {
  public:
    lexer(std::string_view source, const location& origin) : source_(source), origin_(origin) {
        line_ = std::max(origin.line, 1);
        first_column_ = std::max(origin.column, 1);
    }

    std::vector<token> run() {
        if (source_.size() > most_script_bytes) {
            fail(here(), "the script has " + std::to_string(source_.size()) + " bytes, expected at most " +
                             std::to_string(most_script_bytes));
        }
        while (at_ < source_.size()) {
            if (brackets_.empty()) {
                read_indentation();
            } else {
                while (now() == ' ' || now() == '\t') ++at_;
            }
            read_line();
        }
        if (!brackets_.empty()) {
            fail(brackets_.back().second,
                 std::string("this '") + brackets_.back().first + "' is never closed");
        }
        while (indents_.size() > 1) {
            indents_.pop_back();
            add(token_kind::dedent, at_, 0);
        }
        add(token_kind::end, at_, 0);
        return std::move(tokens_);
    }

  private:
    char now() const { return at_ < source_.size() ? source_[at_] : '\0'; }
    char after(std::size_t n) const { return at_ + n < source_.size() ? source_[at_ + n] : '\0'; }
    place place_of(std::size_t at) const {
        return {line_, first_column_ + static_cast<int>(at - line_begin_)};
    }
    place here() const { return place_of(at_); }

    [[noreturn]] void fail(place where, const std::string& message) const {
        throw error(error_kind::input, message, {origin_.file, where.line, where.column});
    }

    void check_length(std::size_t from, const char* what, std::size_t most) const {
        if (at_ - from <= most) return;
        fail(place_of(from), "found " + std::string(what) + " of " + std::to_string(at_ - from) +
                                 " bytes, expected at most " + std::to_string(most));
    }

    void add(token_kind kind, std::size_t from, std::size_t length) {
        tokens_.push_back({kind, source_.substr(from, length), 0, place_of(from)});
    }

    bool at_line_end() const {
        return at_ >= source_.size() || now() == '\n' || (now() == '\r' && after(1) == '\n');
    }

    void read_indentation() {
        while (now() == ' ') ++at_;
        if (now() == '\t') fail(here(), "found a tab in the indentation; indent with spaces");
        if (at_line_end() || now() == '#') return;
        const std::size_t width = at_ - line_begin_;
        if (width > indents_.back()) {
            if (indents_.size() > deepest_nesting) {
                fail(here(), "blocks are nested deeper than " + std::to_string(deepest_nesting) + " levels");
            }
            indents_.push_back(width);
            add(token_kind::indent, at_, 0);
            return;
        }
        const std::vector<std::size_t> open = indents_;
        while (width < indents_.back()) {
            indents_.pop_back();
            add(token_kind::dedent, at_, 0);
        }
        if (width != indents_.back()) {
            std::string expected;
            for (const std::size_t w : open) expected += (expected.empty() ? "" : ", ") + std::to_string(w);
            fail(here(), "this line is indented by " + std::to_string(width) +
                             " spaces; expected the indentation of a block that is open: " + expected);
        }
    }

    void read_line() {
        const std::size_t tokens_before = tokens_.size();
        while (!at_line_end()) {
            const char c = now();
            if (c == ' ' || c == '\t') {
                ++at_;
            } else if (c == '#') {
                while (!at_line_end()) ++at_;
            } else {
                read_token();
            }
        }
        const bool said_something = tokens_.size() > tokens_before ||
                                    (!tokens_.empty() && (tokens_.back().kind == token_kind::indent ||
                                                          tokens_.back().kind == token_kind::dedent));
        if (brackets_.empty() && said_something) add(token_kind::line_end, at_, 0);
        if (now() == '\r') ++at_;
        if (at_ < source_.size()) ++at_;
        ++line_;
        line_begin_ = at_;
    }

    void read_token() {
        const char c = now();
        if (is_letter(c)) return read_word();
        if (is_digit(c)) return read_number();
        if (c == '"') return read_text();
        constexpr std::array<std::string_view, 4> pairs{"<=", ">=", "==", "!="};
        for (const std::string_view pair : pairs) {
            if (source_.substr(at_, 2) == pair) {
                add(token_kind::sign, at_, 2);
                at_ += 2;
                return;
            }
        }
        refuse_foreign_signs();
        constexpr std::string_view signs = "+-*/<>=()[],:";
        if (signs.find(c) == std::string_view::npos) {
            fail(here(), "found " + shown(c) + ", which means nothing in a script");
        }
        if (c == '(' || c == '[') {
            if (brackets_.size() >= static_cast<std::size_t>(deepest_nesting)) {
                fail(here(),
                     "brackets are nested deeper than " + std::to_string(deepest_nesting) + " levels");
            }
            brackets_.emplace_back(c, here());
        } else if (c == ')' || c == ']') {
            const char partner = c == ')' ? '(' : '[';
            if (brackets_.empty())
                fail(here(), "found " + shown(c) + " without a " + shown(partner) + " before it");
            if (brackets_.back().first != partner) {
                fail(here(), "found " + shown(c) + " where the " + shown(brackets_.back().first) +
                                 " of line " + std::to_string(brackets_.back().second.line) +
                                 " is still open");
            }
            brackets_.pop_back();
        }
        add(token_kind::sign, at_, 1);
        ++at_;
    }

    // Refuses a sign of other languages, such as &&, and suggests this language's word.
    void refuse_foreign_signs() const {
        struct hint {
            std::string_view sign, instead;
        };
        constexpr std::array hints{hint{"**", "write pow(a, b)"},
                                   hint{"^", "write pow(a, b)"},
                                   hint{"&&", "write and"},
                                   hint{"||", "write or"},
                                   hint{"&", "write and"},
                                   hint{"|", "write or"},
                                   hint{"!", "write not, or != between two values"},
                                   hint{"%", "20% is written 0.2"},
                                   hint{"'", "write text in double quotes"},
                                   hint{"+=", "write x = x + y"},
                                   hint{"-=", "write x = x - y"},
                                   hint{"*=", "write x = x * y"},
                                   hint{"/=", "write x = x / y"},
                                   hint{";", "each statement has its own line"},
                                   hint{"{", "blocks are made by indentation"},
                                   hint{".", "a number starts with a digit: 0.5"}};
        for (const hint& h : hints) {
            if (source_.substr(at_, h.sign.size()) == h.sign) {
                fail(here(), "found '" + std::string(h.sign) + "'; " + std::string(h.instead));
            }
        }
    }

    void read_word() {
        const std::size_t from = at_;
        while (is_letter(now()) || is_digit(now())) ++at_;
        check_length(from, "a word", most_word_bytes);
        const std::string_view word = source_.substr(from, at_ - from);
        const bool known = std::find(words.begin(), words.end(), word) != words.end();
        add(known ? token_kind::keyword : token_kind::name, from, word.size());
    }

    void read_number() {
        const std::size_t from = at_;
        const auto digits = [&] {
            while (is_digit(now())) ++at_;
        };
        digits();
        if (now() == '.') {
            ++at_;
            digits();
        }
        if (now() == 'e' || now() == 'E') {
            ++at_;
            if (now() == '+' || now() == '-') ++at_;
            digits();
        }
        while (is_letter(now()) || is_digit(now()) || now() == '.') ++at_;
        check_length(from, "a number", most_word_bytes);
        const std::string_view written = source_.substr(from, at_ - from);
        double number = 0;
        const auto [end, code] = std::from_chars(written.data(), written.data() + written.size(), number);
        if (code == std::errc::result_out_of_range) {
            fail(place_of(from), "the number '" + std::string(written) + "' is too large or too small");
        }
        if (code != std::errc() || end != written.data() + written.size()) {
            fail(place_of(from),
                 "'" + std::string(written) + "' is not a number; expected one such as 100, 0.25 or 1e-6");
        }
        add(token_kind::number, from, written.size());
        tokens_.back().number = number;
    }

    void read_text() {
        const std::size_t from = at_;
        ++at_;
        while (now() != '"') {
            if (at_line_end()) fail(place_of(from), "this text has no closing double quote on its line");
            ++at_;
        }
        ++at_;
        check_length(from, "a text", most_text_bytes);
        add(token_kind::text, from + 1, at_ - from - 2);
        tokens_.back().where = place_of(from);
    }

    std::string_view source_;
    const location& origin_;
    std::size_t at_ = 0, line_begin_ = 0;
    int line_ = 1, first_column_ = 1;
    std::vector<std::size_t> indents_{0};
    std::vector<std::pair<char, place>> brackets_;
    std::vector<token> tokens_;
};

}  // namespace

std::span<const std::string_view> keywords() {
    return words;
}

std::vector<token> tokenize(std::string_view source, const location& origin) {
    return lexer(source, origin).run();
}

}  // namespace tilewalk::language
