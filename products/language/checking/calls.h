// SPDX-License-Identifier: Apache-2.0
// Checks calls of functions: where each may stand, and its arguments.
#pragma once

#include "products/language/checking/names.h"

namespace tilewalk::language::checking {

class expressions;

class calls {
  public:
    calls(const syntax& tree, const parameters& of_trade, names& known, expressions& arguments)
        : tree_(tree), parameters_(of_trade), names_(known), arguments_(arguments) {}

    type check(expression& e);
    type check_aggregate(expression& e);

  private:
    const function_entry& find_called(const expression& e) const;
    void check_count(const expression& e, const function_entry& f) const;
    void check_place(const expression& e, const function_entry& f) const;
    type check_arguments(expression& e, const function_entry& f);
    void expect_all(expression& e, std::initializer_list<type> wanted);
    type check_rate(expression& e);
    void check_constant_maturity(expression& e);
    type check_given(expression& e);
    type check_size(expression& e);
    type check_position(expression& e);
    void check_day_count(expression& e);
    void check_rank(expression& e);
    bool is_fixed(const expression& e) const;

    const syntax& tree_;
    const parameters& parameters_;
    names& names_;
    expressions& arguments_;
};

}  // namespace tilewalk::language::checking
