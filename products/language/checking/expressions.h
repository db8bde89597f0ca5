// SPDX-License-Identifier: Apache-2.0
// Determines the type of an expression, and the meaning of every name in it.
#pragma once

#include "products/language/checking/calls.h"
#include "products/language/checking/names.h"

namespace tilewalk::language::checking {

class expressions {
  public:
    expressions(syntax& tree, const parameters& of_trade, names& known)
        : tree_(tree), parameters_(of_trade), names_(known), calls_(tree, of_trade, known, *this) {}
    expressions(const expressions&) = delete;
    expressions& operator=(const expressions&) = delete;

    type check(expression& e);
    type expect(expression& e, type wanted);
    // Expects a currency, and notes that the script reads its exchange rate.
    void expect_exchanged(expression& e);
    // Advice on how to get an expression of type `wanted` from `e` of type `got`; may be empty.
    std::string hint(type wanted, type got, const expression& e) const;

  private:
    type type_of_form(expression& e);
    type check_binary(expression& e);
    void check_word(expression& e, const parameter& of) const;

    syntax& tree_;
    const parameters& parameters_;
    names& names_;
    calls calls_;
};

}  // namespace tilewalk::language::checking
