// SPDX-License-Identifier: Apache-2.0
// Operations of a program on the CPU: each calls its kernel function. Everything here has internal linkage,
// because the lane loops include it once for each instruction set.
#pragma once

#include "kernels/operations.h"
#include "products/program/operation.h"

namespace tilewalk::program {

template <operation code, class real>
static constexpr real apply(real a, [[maybe_unused]] real b, [[maybe_unused]] real c) {
    using enum operation;
    static_assert(is_function(code));
    if constexpr (code == neg) return kernels::neg(a);
    if constexpr (code == abs) return kernels::abs(a);
    if constexpr (code == sqrt) return kernels::sqrt(a);
    if constexpr (code == exp) return kernels::exp(a);
    if constexpr (code == log) return kernels::log(a);
    if constexpr (code == sin) return kernels::sin(a);
    if constexpr (code == cos) return kernels::cos(a);
    if constexpr (code == floor) return kernels::floor(a);
    if constexpr (code == norm_cdf) return kernels::norm_cdf(a);
    if constexpr (code == norm_inv) return kernels::norm_inv(a);
    if constexpr (code == normal_to_exponential) return kernels::normal_to_exponential(a);
    if constexpr (code == add) return kernels::add(a, b);
    if constexpr (code == sub) return kernels::sub(a, b);
    if constexpr (code == mul) return kernels::mul(a, b);
    if constexpr (code == div) return kernels::div(a, b);
    if constexpr (code == min) return kernels::min(a, b);
    if constexpr (code == max) return kernels::max(a, b);
    if constexpr (code == pow) return kernels::pow(a, b);
    if constexpr (code == fma) return kernels::fma(a, b, c);
    if constexpr (code == less) return kernels::less(a, b);
    if constexpr (code == less_equal) return kernels::less_equal(a, b);
    if constexpr (code == equal) return kernels::equal(a, b);
    if constexpr (code == logical_not) return kernels::logical_not(a);
    if constexpr (code == logical_and) return kernels::logical_and(a, b);
    if constexpr (code == logical_or) return kernels::logical_or(a, b);
    if constexpr (code == select) return kernels::select(a, b, c);
    if constexpr (code == flaw) return kernels::flaw(a, b, c);
}

}  // namespace tilewalk::program
