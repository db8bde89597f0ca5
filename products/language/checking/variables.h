// SPDX-License-Identifier: Apache-2.0
// The variables of a script: their scope, definite assignment, and use.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "products/language/syntax.h"

namespace tilewalk::language::checking {

constexpr std::size_t whole = static_cast<std::size_t>(-1);  // a variable as such, or all elements of one

// Variables certain to have a value: number, and depth of the loop whose asset indexes it, or `whole`.
using definite = std::set<std::pair<std::size_t, std::size_t>>;

class variables {
  public:
    explicit variables(syntax& tree) : tree_(tree) {}

    // Collects the names that blocks assign, to distinguish a missing first value from a misspelt name.
    void note_assigned(const statements& list);
    bool is_assigned_in_a_block(const std::string& name) const { return assigned_.contains(name); }
    std::vector<std::string> names_to_set(const std::string& but) const;

    std::optional<std::size_t> find(std::string_view name) const;
    std::vector<std::string> names() const;
    const variable& operator[](std::size_t number) const { return tree_.variables[number]; }

    // Turns the variables so far into states. Throws if one of them has a first value in some cases only.
    void end_top();
    void begin_block();

    // Bracket the right side of an assignment.
    void begin_right_side(const std::string& name);
    void end_right_side() { setting_.clear(); }
    void note_trade_is_read() { reads_the_trade_ = true; }
    // Returns the variable of this name, which it creates if there is none.
    std::size_t set(const std::string& name, place where, type of, std::optional<std::size_t> list,
                    bool is_state);

    bool has_value(std::size_t number, std::size_t depth) const;
    void note_read(std::size_t number);

    const definite& defined() const { return defined_; }
    void define(std::size_t number, std::size_t depth) { defined_.insert({number, depth}); }
    void define_only(definite these) { defined_ = std::move(these); }
    // A loop visits every asset of its list, so what it gave to each element it gave to all.
    void leave_loop(std::size_t depth);

    void check_none_is_idle() const;

  private:
    struct fate {
        bool is_read = false;               // outside of its own assignments
        bool is_set_again = false;          // after its first value
        bool depends_on_the_trade = false;  // its first value is computed from the trade's terms
    };

    syntax& tree_;
    std::set<std::string, std::less<>> assigned_;
    std::vector<fate> fates_;
    std::size_t states_ = whole;  // variables below this number are states
    std::size_t first_local_ = 0;
    definite defined_;
    std::string setting_;  // the name that the assignment at hand sets
    bool reads_the_trade_ = false;
};

}  // namespace tilewalk::language::checking
