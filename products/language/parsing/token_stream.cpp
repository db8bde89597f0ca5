// SPDX-License-Identifier: Apache-2.0
#include "products/language/parsing/token_stream.h"

namespace tilewalk::language::parsing {

std::string found(const token& t) {
    switch (t.kind) {
        case token_kind::line_end:
            return "the end of the line";
        case token_kind::indent:
            return "a deeper indentation";
        case token_kind::dedent:
            return "the end of the block";
        case token_kind::end:
            return "the end of the script";
        case token_kind::text:
            return "the text \"" + std::string(t.text) + "\"";
        default:
            return "'" + std::string(t.text) + "'";
    }
}

bool token_stream::take_if(std::string_view word) {
    if (!now().is(word)) return false;
    advance();
    return true;
}

void token_stream::fail(place where, const std::string& message) const {
    throw error(error_kind::input, message, {file_, where.line, where.column});
}

void token_stream::expect(std::string_view sign, const std::string& after_what) {
    if (!take_if(sign)) {
        fail("expected '" + std::string(sign) + "' " + after_what + ", found " + found(now()));
    }
}

void token_stream::expect_line_end(const std::string& after_what) {
    if (now().kind != token_kind::line_end) {
        if (now().is("=")) fail("found '=' inside an expression; two values are compared with '=='");
        std::string hint;
        if (now().is("if")) hint = "; 'if CONDITION:' takes a line of its own";
        if (now().is(",")) hint = "; a number has no commas, as in 1000.5";
        fail("expected the end of the line after " + after_what + ", found " + found(now()) + hint);
    }
    advance();
}

token token_stream::expect_name(const std::string& what) {
    if (now().kind != token_kind::name) {
        if (now().kind == token_kind::keyword) {
            fail("expected " + what + ", found '" + std::string(now().text) +
                 "', which is a word of the language");
        }
        fail("expected " + what + ", found " + found(now()));
    }
    return advance();
}

token_stream::level::level(token_stream& of) : of_(of) {
    if (++of_.depth_ > deepest_nesting) {
        of_.fail("the script is nested deeper than " + std::to_string(deepest_nesting) + " levels");
    }
}

}  // namespace tilewalk::language::parsing
