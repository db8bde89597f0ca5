// SPDX-License-Identifier: Apache-2.0
// The type of an expression; everything that it names gets its meaning on the way.
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
    // The same where one type is wanted; returns it.
    type expect(expression& e, type wanted);
    // A currency whose exchange rate the script asks for.
    void expect_exchanged(expression& e);
    // A phrase about how to get what was wanted from what was found; may be empty.
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
