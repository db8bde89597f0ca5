// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "products/language/recording/block_at_hand.h"

namespace tilewalk::language::recording {

// True if a truth is a constant and equals `yes`.
bool is(value v, bool yes);
// The truths a && b and a || b, recorded without an operation if one side is constant.
value both(value a, value b);
value either(value a, value b);

// Records each number, name or operation once in a block, so that repeated samples are one sample.
class values {
  public:
    explicit values(const block_at_hand& at) : at_(at), is_in_parts_(at.is_in_parts()) {}

    value number(double number);
    value truth(bool yes) { return at_.into.truth(yes); }
    value apply(program::operation code, value a, value b = {});
    template <class F>
    value once(const std::string& name, const F& make) {
        value& known = named_[name];
        if (!known.valid()) known = make();
        return known;
    }

    value term(const std::string& name, double number);
    value row(const std::string& name, const std::function<double(const occurrence&)>& number_at);
    // A truth that is known beforehand for each run of the block.
    value flag(const std::string& name, const std::function<bool(const occurrence&)>& is_set);
    value step_length();

    bool is_in_parts() const { return is_in_parts_; }
    // Combines the parts of an interval: `with` maps the number before this part to the number after it.
    value over_parts(const std::string& name, value of_part, const std::function<value(value)>& with);

    void spend(place where, std::size_t count);

  private:
    const block_at_hand& at_;
    bool is_in_parts_;
    std::size_t spent_ = 0;
    std::map<std::uint64_t, value> numbers_;
    std::map<std::string, value> named_;
    std::map<std::tuple<program::operation, std::uint32_t, std::uint32_t>, value> applied_;
};

}  // namespace tilewalk::language::recording
