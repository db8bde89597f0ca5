// SPDX-License-Identifier: Apache-2.0
// Ranges that a script's numbers keep to on every path. They prove that most operations need no check.
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

// Interval arithmetic over a script, from the trade's terms and the number of runs of each block. Market
// prices are taken to be of ordinary size, and to be positive if the model says so.
class ranges {
  public:
    // `at_first` has the first values of each variable, one for each element; none for locals of a block.
    ranges(const argued_script& script, const world& market,
           const std::vector<std::vector<double>>& at_first);

    // The range of the expression on paths on which no operation has left its domain so far.
    range range_of(const expression& e) const;
    // True if a division, root, logarithm, exponential or power may have no finite result.
    bool may_break(const expression& e) const;
    // True if a sum, difference or product may overflow.
    bool may_overflow(const expression& e) const;

  private:
    struct variable_range {
        range set;
        double fall = 0, rise = 0, next_fall = 0, next_rise = 0;
    };
    // Ranges of a block's locals at the current statement; an entry is empty if the general range holds.
    using names_at_hand = std::vector<std::optional<range>>;

    void settle();
    void walk_all();
    void walk(const statements& list, double times, bool in_loop);
    void walk(const branch& b, std::size_t from_arm, double times, bool in_loop);
    void assign(const assignment& a, double times, bool in_loop);
    // The value of a condition if the trade's terms alone decide it; else empty.
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
    double longest_ = 0;  // most years between two dates of blocks
    names_at_hand names_;
    bool has_changed_ = false, is_widening_ = false, is_settled_ = false;
    mutable std::map<const expression*, range> known_;  // by expression, after settle()
};

}  // namespace tilewalk::language
