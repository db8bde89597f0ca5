// SPDX-License-Identifier: Apache-2.0
// The table of precisions and all that each of them means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/choices.h"

namespace tilewalk::program {

using tilewalk::name_of;
using tilewalk::precision;

enum class number_type : std::uint8_t { single_, double_ };

constexpr std::size_t bytes_of(number_type type) {
    return type == number_type::double_ ? sizeof(double) : sizeof(float);
}
// The type's name in C++.
constexpr std::string_view word_of(number_type type) {
    return type == number_type::double_ ? "double" : "float";
}

struct precision_traits {
    precision is;
    number_type shock;  // type in which shocks are drawn and stored
    number_type real;   // type of states, terms, rows and operations
    bool is_fast;       // hardware approximations, contracted programs; GPU only
    // For kernel texts, below tilewalk::kernels: the struct that draws shocks (if is_fast, a template on the
    // rounds of Philox), the namespace of the mathematical functions, and the header of both.
    std::string_view draws, math, header;
};

inline constexpr std::array precision_table{
    precision_traits{precision::double_, number_type::double_, number_type::double_, false, "double_draws",
                     "kernels", "kernels/draws.h"},
    precision_traits{precision::single, number_type::single_, number_type::single_, false, "single_draws",
                     "kernels", "kernels/draws.h"},
    precision_traits{precision::single_fast, number_type::single_, number_type::single_, true,
                     "fast_draws_of", "kernels::fast", "kernels/fast.h"},
    precision_traits{precision::mixed, number_type::single_, number_type::double_, false, "mixed_draws",
                     "kernels", "kernels/draws.h"},
};

constexpr const precision_traits& traits_of(precision p) {
    return precision_table[static_cast<std::size_t>(p)];
}
static_assert(
    [] {
        for (std::size_t i = 0; i < precision_table.size(); ++i)
            if (precision_table[i].is != static_cast<precision>(i)) return false;
        return true;
    }(),
    "the table has a line for each precision, in the order of the enumerators");

constexpr number_type shock_type(precision p) {
    return traits_of(p).shock;
}
constexpr number_type real_type(precision p) {
    return traits_of(p).real;
}
constexpr bool is_fast(precision p) {
    return traits_of(p).is_fast;
}
std::vector<std::string> precision_names();

}  // namespace tilewalk::program
