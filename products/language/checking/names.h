// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "products/language/checking/parameters.h"
#include "products/language/checking/variables.h"

namespace tilewalk::language::checking {

// The place of a line: above the blocks, in an `on` block, or in a `between` block.
enum class surroundings { top, on_date, interval };

class names {
  public:
    names(const syntax& tree, parameters& of_trade, variables& of_script)
        : tree_(tree), parameters_(of_trade), variables_(of_script) {}

    surroundings where() const { return where_; }
    // `schedule` is the schedule of the block's dates, to which index, count and lists per date refer.
    void enter(surroundings where, std::optional<std::size_t> schedule = {}) {
        where_ = where;
        schedule_ = schedule;
    }

    // Each stores the meaning and type of a name and returns the type. Pass `as_asset` where an asset fits.
    type resolve(expression& name, bool as_asset = false);
    type resolve_element(expression& e);
    type resolve_parameter(expression& e, std::size_t number);
    // Notes that the script asks whether the trade gives parameter `number`.
    void resolve_question(expression& e, std::size_t number);

    void check_can_be_set(const std::string& name, place where) const;
    bool is_known(std::string_view name) const;

    std::size_t find_list(const std::string& name, place where);
    std::string list_name(std::size_t list) const;
    std::size_t list_of_loop(std::size_t depth) const { return loops_[depth].list; }
    void enter_loop(const std::string& name, place where, std::size_t list);
    void leave_loop();
    // Checks `index` of base[index], and returns the depth of the loop whose asset `index` names.
    std::size_t resolve_index(expression& index, const std::string& base);
    [[noreturn]] void fail_wrong_list(place where, const std::string& name, std::size_t mine,
                                      std::size_t given) const;

  private:
    struct open_loop {
        std::string name;
        std::size_t list = 0;
        place where;
        bool is_read = false;
    };

    std::optional<std::size_t> find_loop(std::string_view name) const;
    type resolve_loop(expression& e, std::size_t depth);
    type resolve_variable(expression& e, std::size_t number, std::size_t depth);
    type resolve_special(expression& e) const;
    void check_parameter_fits(const expression& e, std::size_t number);
    void check_is_at_hand(const expression& e) const;
    std::optional<std::size_t> list_of_parameter(const expression& e, std::size_t number) const;
    std::vector<std::string> visible() const;
    [[noreturn]] void fail_unknown(const expression& e, bool as_asset) const;
    [[noreturn]] void fail_without_value(const expression& e) const;
    [[noreturn]] void fail_without_index(const expression& e, std::size_t list) const;

    const syntax& tree_;
    parameters& parameters_;
    variables& variables_;
    surroundings where_ = surroundings::top;
    std::optional<std::size_t> schedule_;
    std::vector<open_loop> loops_;
};

}  // namespace tilewalk::language::checking
