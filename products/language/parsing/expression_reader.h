// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "products/language/parsing/token_stream.h"
#include "products/language/syntax.h"

namespace tilewalk::language::parsing {

class expression_reader {
  public:
    explicit expression_reader(token_stream& from) : tokens_(from) {}

    expression read();
    // Reads an expression without operators outside of brackets.
    expression read_primary();

  private:
    // The weakest binding comes first.
    expression read_or();
    expression read_and();
    expression read_not();
    expression read_comparison();
    expression read_sum();
    expression read_product();
    expression read_unary();

    std::optional<binary_operator> comparison() const;
    void read_arguments(expression& call);
    void read_aggregate(expression& call);
    void grow(expression& e) const;
    expression unary(form is, place where, expression of) const;
    expression binary(binary_operator sign, place where, expression left, expression right) const;

    token_stream& tokens_;
};

}  // namespace tilewalk::language::parsing
