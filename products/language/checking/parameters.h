// SPDX-License-Identifier: Apache-2.0
// The parameters that a script can name, and which of them it reads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "products/language/syntax.h"

namespace tilewalk::language::checking {

type type_of(parameter_type t);

class parameters {
  public:
    explicit parameters(syntax& tree);

    // Refuses a parameter whose name is taken, and a list that is `per` an unknown parameter.
    void check_declarations() const;

    std::optional<std::size_t> find(std::string_view name) const;
    const parameter& operator[](std::size_t number) const { return tree_.parameters[number]; }
    type type_at(std::size_t number) const { return type_of(tree_.parameters[number].type); }
    std::vector<std::string> names() const;
    std::vector<std::string> names_of_type(type t) const;
    std::vector<std::string> names_of_optional() const;

    void note_use(std::size_t number);
    // Notes that the script asks whether the trade gives parameter `number`.
    void note_question(std::size_t number) { is_read_[number] = true; }
    // Refuses a parameter that no line reads. `others` are the script's variables, for suggestions.
    void check_all_are_read(const std::vector<std::string>& others) const;

  private:
    syntax& tree_;
    std::vector<bool> is_read_;
};

}  // namespace tilewalk::language::checking
