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

// In place of a loop's depth: the variable has no index, or all its elements are meant.
constexpr std::size_t whole = static_cast<std::size_t>(-1);

// Variables certain to have a value, as pairs: a variable's number, and the depth of the loop whose asset
// indexes the variable, or `whole`.
using definite = std::set<std::pair<std::size_t, std::size_t>>;

class variables {
  public:
    explicit variables(syntax& tree) : tree_(tree) {}

    // Collects the names that blocks assign, to tell a missing first value from a misspelt name in messages.
    void note_assigned(const statements& list);
    bool is_assigned_in_a_block(const std::string& name) const { return assigned_.contains(name); }
    std::vector<std::string> names_to_set(const std::string& but) const;

    std::optional<std::size_t> find(std::string_view name) const;
    std::vector<std::string> names() const;
    const variable& operator[](std::size_t number) const { return tree_.variables[number]; }

    // Ends the statements above all blocks: variables become states. Throws if one may lack a first value.
    void end_top();
    void begin_block();

    // Called around the right side of an assignment to `name`, where reading `name` does not count as a use.
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
    // Ends a loop. It visited every asset of its list: a variable set for the current asset is set for all.
    void leave_loop(std::size_t depth);

    void check_none_is_idle() const;

  private:
    struct fate {
        bool is_read = false;               // read outside of its own assignments
        bool is_set_again = false;          // assigned again after its first value
        bool depends_on_the_trade = false;  // its first value is computed from the trade's terms
    };

    syntax& tree_;
    std::set<std::string, std::less<>> assigned_;
    std::vector<fate> fates_;
    std::size_t states_ = whole;  // variables below this number are states
    std::size_t first_local_ = 0;
    definite defined_;
    std::string setting_;  // name of the variable whose assignment is being checked
    bool reads_the_trade_ = false;
};

}  // namespace tilewalk::language::checking
