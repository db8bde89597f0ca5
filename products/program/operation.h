// SPDX-License-Identifier: Apache-2.0
// The catalogue of operations. Recorder, passes, printers and both back ends follow from its rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewalk::program {

enum class operation : std::uint8_t {
    constant,  // a literal number
    term,      // one number for each trade: strikes, barriers, correlations
    row,       // one number for each run of the section: times, discount factors, drifts
    state,     // one number for each path, carried from step to step
    normal,    // a standard normal shock of this step
    uniform,   // a uniform number in (0, 1) of this step
    scenario,  // a number of an array, by step and path
    neg,
    abs,
    sqrt,
    exp,
    log,
    sin,
    cos,
    floor,
    norm_cdf,
    norm_inv,
    normal_to_exponential,
    add,
    sub,
    mul,
    div,
    min,
    max,
    pow,
    fma,
    // Operations that give a truth: 1.0 is true, 0.0 is false.
    less,
    less_equal,
    equal,
    logical_not,
    logical_and,
    logical_or,
    select,  // condition ? a : b
    // b, or NaN if the condition is true and a is not finite. Its derivative is that of b.
    flaw,  // condition, a, b
    interpolate,
    // The least x at which scale * exp(x) / divisor reaches a level, or exceeds it (see least_logarithm).
    least_log_reaching,
    least_log_above,
};

enum class result_type : std::uint8_t { number, truth };

struct operation_entry {
    operation code;
    std::string_view name;
    int arity;
    result_type result;
};

inline constexpr std::array operations{
    operation_entry{operation::constant, "constant", 0, result_type::number},
    operation_entry{operation::term, "term", 0, result_type::number},
    operation_entry{operation::row, "row", 0, result_type::number},
    operation_entry{operation::state, "state", 0, result_type::number},
    operation_entry{operation::normal, "normal", 0, result_type::number},
    operation_entry{operation::uniform, "uniform", 0, result_type::number},
    operation_entry{operation::scenario, "scenario", 0, result_type::number},
    operation_entry{operation::neg, "neg", 1, result_type::number},
    operation_entry{operation::abs, "abs", 1, result_type::number},
    operation_entry{operation::sqrt, "sqrt", 1, result_type::number},
    operation_entry{operation::exp, "exp", 1, result_type::number},
    operation_entry{operation::log, "log", 1, result_type::number},
    operation_entry{operation::sin, "sin", 1, result_type::number},
    operation_entry{operation::cos, "cos", 1, result_type::number},
    operation_entry{operation::floor, "floor", 1, result_type::number},
    operation_entry{operation::norm_cdf, "norm_cdf", 1, result_type::number},
    operation_entry{operation::norm_inv, "norm_inv", 1, result_type::number},
    operation_entry{operation::normal_to_exponential, "normal_to_exponential", 1, result_type::number},
    operation_entry{operation::add, "add", 2, result_type::number},
    operation_entry{operation::sub, "sub", 2, result_type::number},
    operation_entry{operation::mul, "mul", 2, result_type::number},
    operation_entry{operation::div, "div", 2, result_type::number},
    operation_entry{operation::min, "min", 2, result_type::number},
    operation_entry{operation::max, "max", 2, result_type::number},
    operation_entry{operation::pow, "pow", 2, result_type::number},
    operation_entry{operation::fma, "fma", 3, result_type::number},
    operation_entry{operation::less, "less", 2, result_type::truth},
    operation_entry{operation::less_equal, "less_equal", 2, result_type::truth},
    operation_entry{operation::equal, "equal", 2, result_type::truth},
    operation_entry{operation::logical_not, "logical_not", 1, result_type::truth},
    operation_entry{operation::logical_and, "logical_and", 2, result_type::truth},
    operation_entry{operation::logical_or, "logical_or", 2, result_type::truth},
    operation_entry{operation::select, "select", 3, result_type::number},
    operation_entry{operation::flaw, "flaw", 3, result_type::number},
    operation_entry{operation::interpolate, "interpolate", 1, result_type::number},
    operation_entry{operation::least_log_reaching, "least_log_reaching", 3, result_type::number},
    operation_entry{operation::least_log_above, "least_log_above", 3, result_type::number},
};

constexpr const operation_entry& entry_of(operation code) {
    return operations[static_cast<std::size_t>(code)];
}

constexpr bool is_leaf(operation code) {
    return code <= operation::scenario;
}

// True if the operation reads a table besides its operands.
constexpr bool reads_table(operation code) {
    return code == operation::interpolate;
}

// True for operations computed only ahead of the paths, in the number type of the paths.
constexpr bool is_ahead_of_paths(operation code) {
    return code == operation::least_log_reaching || code == operation::least_log_above;
}

// True for functions of their operands alone, which both paths and passes can compute.
constexpr bool is_function(operation code) {
    return !is_leaf(code) && !reads_table(code) && !is_ahead_of_paths(code);
}

static_assert([] {
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (static_cast<std::size_t>(operations[i].code) != i) return false;
    }
    return true;
}());

}  // namespace tilewalk::program
