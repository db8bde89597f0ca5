// SPDX-License-Identifier: Apache-2.0
// One operation on single numbers, for folding and for tests. Compiled with -march=x86-64-v3 -O2
// -ffp-contract=off (so that fma is an instruction); call it only where runnable_instruction_sets() is not
// empty.
#include "products/program/evaluate.h"

#include <array>
#include <cstddef>
#include <utility>

#include "products/program/apply.h"

namespace tilewalk::program {
namespace {

using function = double (*)(double, double, double);

template <std::size_t index>
constexpr function function_of() {
    constexpr auto code = static_cast<operation>(index);
    if constexpr (is_leaf(code) || reads_table(code)) {
        return nullptr;
    } else {
        return &apply<code, double>;
    }
}

constexpr auto functions = []<std::size_t... index>(std::index_sequence<index...>) {
    return std::array<function, sizeof...(index)>{function_of<index>()...};
}
(std::make_index_sequence<operations.size()>{});

// Built at compile time: this file must not emit a std function compiled for its instruction set.
constexpr const function* first_function = functions.data();

}  // namespace

double evaluate(operation code, double a, double b, double c) {
    return first_function[static_cast<std::size_t>(code)](a, b, c);
}

}  // namespace tilewalk::program
