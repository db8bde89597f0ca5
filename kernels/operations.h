// SPDX-License-Identifier: Apache-2.0
// The operations of a path program, as functions of their names. Functions not defined here (abs, sqrt, exp,
// ...) are in kernels/math.h. Truth is 1 or 0; any number but zero (NaN included) counts as true.
#pragma once

#include "kernels/math.h"

namespace tilewalk::kernels {

template <typename real>
static constexpr real neg(real a) {
    return -a;
}

template <typename real>
static constexpr real add(real a, real b) {
    return a + b;
}

template <typename real>
static constexpr real sub(real a, real b) {
    return a - b;
}

template <typename real>
static constexpr real mul(real a, real b) {
    return a * b;
}

template <typename real>
static constexpr real div(real a, real b) {
    return a / b;
}

// Comparisons with NaN are false.
template <typename real>
static constexpr real less(real a, real b) {
    return a < b ? real(1) : real(0);
}

template <typename real>
static constexpr real less_equal(real a, real b) {
    return a <= b ? real(1) : real(0);
}

template <typename real>
static constexpr real equal(real a, real b) {
    return a == b ? real(1) : real(0);
}

template <typename real>
static constexpr real logical_not(real a) {
    return a == real(0) ? real(1) : real(0);
}

template <typename real>
static constexpr real logical_and(real a, real b) {
    return ((a != real(0)) & (b != real(0))) ? real(1) : real(0);
}

template <typename real>
static constexpr real logical_or(real a, real b) {
    return ((a != real(0)) | (b != real(0))) ? real(1) : real(0);
}

template <typename real>
static constexpr real select(real condition, real a, real b) {
    return condition != real(0) ? a : b;
}

// b, or NaN if the condition is true and a is not finite.
template <typename real>
static constexpr real flaw(real condition, real a, real b) {
    const real none = condition != real(0) ? a - a : real(0);
    return b + none;
}

// A position in a table, in steps of its grid: at distance `on` above number i, below number i + 1. A NaN
// position is at number 0, with distance NaN.
template <typename real>
struct place_in_table {
    int i;
    real on;
};
template <typename real>
static constexpr place_in_table<real> find_place(int size, real position) {
    const real at = clamp(position, real(0), real(size - 1));
    const int below = int(max(at, real(0)));  // nan gives 0
    const int i = below < size - 2 ? below : size - 2;
    return {i, at - real(i)};
}
template <typename real>
static constexpr real between(real first, real second, real on) {
    return fma(on, second - first, first);
}

// Interpolates between the numbers of a table; constant beyond its ends.
template <typename real, class table>
static constexpr real interpolate(const table& of, int size, real position) {
    const auto place = find_place(size, position);
    return between(real(of[place.i]), real(of[place.i + 1]), place.on);
}

}  // namespace tilewalk::kernels
