// SPDX-License-Identifier: Apache-2.0
// Tokens of a script: words, numbers, signs, and the indentation that makes blocks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::language {

// Bounds that keep a hostile script from exhausting memory or the stack.
inline constexpr std::size_t most_script_bytes = bounds::script_bytes;
inline constexpr int deepest_nesting = bounds::script_nesting;

// A line and column of the script's file, whose name is kept beside the tree.
struct place {
    int line = 1;
    int column = 1;
};

enum class token_kind { name, keyword, number, text, sign, line_end, indent, dedent, end };

struct token {
    token_kind kind = token_kind::end;
    std::string_view text;  // a view of the source
    double number = 0;
    place where;

    bool is(std::string_view sign_or_keyword) const {
        return (kind == token_kind::sign || kind == token_kind::keyword) && text == sign_or_keyword;
    }
};

std::span<const std::string_view> keywords();

// Throws tilewalk::error (input). `origin` is where the first character stands. The last token is an `end`.
std::vector<token> tokenize(std::string_view source, const location& origin);

}  // namespace tilewalk::language
