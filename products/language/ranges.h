// SPDX-License-Identifier: Apache-2.0
// Ranges of a script's expressions that no path of the trade leaves. They prove that most operations never
// leave their domain, so that nothing has to look for it along the paths.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "products/language/argued_script.h"
#include "products/language/payoff.h"
#include "products/language/syntax.h"

namespace tilewalk::language {

struct range {
    double low = 0, high = 0;  // infinite where the number may overflow
};

// The sign and the size of what a script computes follow from its arithmetic, the trade's terms and how often
// its blocks run. Prices that the market shows count as numbers of an ordinary size, and as positive where
// the model says so: what a model makes of them is its own affair.
class ranges {
  public:
    // `at_first` has the values of each variable, by element, as the path to come begins; empty for names of
    // a block.
    ranges(const argued_script& script, const world& market,
           const std::vector<std::vector<double>>& at_first);

    // On a path on which no operation has left its domain so far.
    range of(const expression& e) const;
    // A division, root, logarithm, exponential or power that may have no finite result.
    bool may_break(const expression& e) const;
    // A sum, difference or product that may overflow.
    bool may_overflow(const expression& e) const;

  private:
    // The values of a variable: those that it is set to, and what sums add to them at most.
    struct variable_range {
        range set;
        double fall = 0, rise = 0, next_fall = 0, next_rise = 0;
    };
    // Ranges of names of a block at the statement at hand; empty: as anywhere in the script.
    using names_at_hand = std::vector<std::optional<range>>;

    void settle();
    void walk_all();
    void walk(const statements& list, double times, bool in_loop);
    void walk(const branch& b, std::size_t from_arm, double times, bool in_loop);
    void assign(const assignment& a, double times, bool in_loop);
    // The value of a condition if the trade's terms decide it.
    std::optional<bool> decided(const expression& condition) const;
    void include(variable_range& v, range r);
    range of_variable(std::size_t number) const;
    range of_parameter(std::size_t number) const;
    range of_spot(const expression& asset) const;
    range of_name(const expression& e) const;
    range of_call(const expression& e) const;
    range of_binary(const expression& e) const;
    range of_year_fraction(const expression& e) const;
    range unchecked(const expression& e) const;
    range found(const expression& e) const;

    const argued_script& script_;
    const world& market_;
    std::vector<variable_range> variables_;
    double longest_ = 0;  // years between two dates of blocks
    names_at_hand names_;
    bool has_changed_ = false, is_widening_ = false, is_settled_ = false;
    mutable std::map<const expression*, range> known_;  // where it stands, once variables are settled
};

}  // namespace tilewalk::language
