// SPDX-License-Identifier: Apache-2.0
// Evaluates one operation on single numbers, for folding and tests. Compiled with -march=x86-64-v3 -O2
// -ffp-contract=off, so that fma is an instruction: call it only if runnable_instruction_sets() is not empty.
#include "products/program/evaluate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "products/program/apply.h"

namespace tilewalk::program {
namespace {

using function = double (*)(double, double, double);

template <std::size_t index>
constexpr function function_of() {
    constexpr auto code = static_cast<operation>(index);
    if constexpr (is_function(code)) {
        return &apply<code, double>;
    } else {
        return nullptr;
    }
}

constexpr auto functions = []<std::size_t... index>(std::index_sequence<index...>) {
    return std::array<function, sizeof...(index)>{function_of<index>()...};
}
(std::make_index_sequence<operations.size()>{});

// Built at compile time: a std function emitted here would use this file's instruction set everywhere.
constexpr const function* first_function = functions.data();

// Maps floating-point numbers to signed words in the same order; both zeros are one word.
template <class real>
struct in_order;
template <>
struct in_order<double> {
    using word = std::int64_t;
    static constexpr word least = std::numeric_limits<word>::min();
};
template <>
struct in_order<float> {
    using word = std::int32_t;
    static constexpr word least = std::numeric_limits<word>::min();
};
template <class real>
typename in_order<real>::word place_of(real x) {
    using word = typename in_order<real>::word;
    const auto bits = __builtin_bit_cast(word, x);
    return bits < 0 ? in_order<real>::least - bits : bits;
}
template <class real>
real number_at(typename in_order<real>::word place) {
    return __builtin_bit_cast(real, place < 0 ? in_order<real>::least - place : place);
}

template <class real>
double least_logarithm_in(bool above, real level, real scale, real divisor) {
    constexpr real infinity = kernels::format<real>::infinity;
    const auto is_size = [&](real x) { return x > 0 && x < infinity; };
    const bool is_known = is_size(scale) && is_size(divisor) && level < infinity && level > -infinity;
    if (!is_known) return kernels::format<double>::nan;
    const auto is_there = [&](real x) {
        const real value = scale * kernels::exp(x) / divisor;
        return above ? value > level : value >= level;
    };
    using word = typename in_order<real>::word;
    const word lowest = place_of(-infinity), highest = place_of(infinity);
    if (is_there(-infinity)) return static_cast<double>(-infinity);
    // Search from a guess in steps of doubling length, then bisect. exp(infinity) is above any level.
    const real guess = kernels::log(level * divisor / scale);
    word here = guess > -infinity && guess < infinity ? place_of(guess) : 0, not_yet = lowest,
         there = highest;
    const bool goes_down = is_there(number_at<real>(here));
    (goes_down ? there : not_yet) = here;
    for (word stride = 1; stride < highest / 4; stride *= 2) {
        if (goes_down ? here < lowest + stride : here > highest - stride) break;
        const word next = goes_down ? here - stride : here + stride;
        const bool is_it = is_there(number_at<real>(next));
        (is_it ? there : not_yet) = next;
        if (is_it != goes_down) break;
        here = next;
    }
    while (not_yet + 1 < there) {
        // The middle without overflow: `there - not_yet` may not fit into a word.
        const word middle = (not_yet & there) + ((not_yet ^ there) >> 1);
        (is_there(number_at<real>(middle)) ? there : not_yet) = middle;
    }
    return static_cast<double>(number_at<real>(there));
}

}  // namespace

double evaluate(operation code, double a, double b, double c) {
    return first_function[static_cast<std::size_t>(code)](a, b, c);
}

double interpolated(const double* table, std::size_t size, double position) {
    return kernels::interpolate(table, static_cast<int>(size), position);
}

double least_logarithm(operation code, number_type walked_in, double level, double scale, double divisor) {
    const bool above = code == operation::least_log_above;
    if (walked_in == number_type::double_) return least_logarithm_in(above, level, scale, divisor);
    return least_logarithm_in(above, static_cast<float>(level), static_cast<float>(scale),
                              static_cast<float>(divisor));
}

}  // namespace tilewalk::program
