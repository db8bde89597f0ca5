// SPDX-License-Identifier: Apache-2.0
// The tokens of a script, taken one by one; throws if an expected token is missing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "products/language/lexer.h"

namespace tilewalk::language::parsing {

// Describes a token for a message: "the end of the line", "'pay'".
std::string found(const token& t);

class token_stream {
  public:
    token_stream(std::string_view source, const location& origin)
        : file_(origin.file), tokens_(tokenize(source, origin)) {}

    const std::string& file() const { return file_; }
    const token& now() const { return tokens_[at_]; }
    const token& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
    token advance() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    bool take_if(std::string_view word);

    [[noreturn]] void fail(const std::string& message) const { fail(now().where, message); }
    [[noreturn]] void fail(place where, const std::string& message) const;

    void expect(std::string_view sign, const std::string& after_what);
    void expect_line_end(const std::string& after_what);
    token expect_name(const std::string& what);

    // Counts one level of nesting during its lifetime.
    class level {
      public:
        explicit level(token_stream& of);
        ~level() { --of_.depth_; }
        level(const level&) = delete;
        level& operator=(const level&) = delete;

      private:
        token_stream& of_;
    };

  private:
    std::string file_;
    std::vector<token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace tilewalk::language::parsing
