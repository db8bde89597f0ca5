// SPDX-License-Identifier: Apache-2.0
// The functions exp, log and pow: branch-free, from polynomials fitted for Tilewalk (Remez exchange in
// 113-bit arithmetic, coefficients then rounded). Arguments and results may be subnormal; NaN gives NaN.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// ln 2 in two parts, its inverse, and ln2::shift. The high part ends in zeros: times an exponent it is exact.
template <typename real>
struct ln2_parts;
template <>
struct ln2_parts<double> {
    static constexpr double of[] = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, 0x1.71547652b82fep+0,
                                    format<double>::integer_shift + 2 * format<double>::exponent_bias};
};
template <>
struct ln2_parts<float> {
    static constexpr float of[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f, 0x1.715476p+0f,
                                   format<float>::integer_shift + 2 * format<float>::exponent_bias};
};
template <typename real>
struct ln2 {
    static constexpr real high() { return coefficient<ln2_parts<real>, 0>(); }
    static constexpr real low() { return coefficient<ln2_parts<real>, 1>(); }
    static constexpr real inverse() { return coefficient<ln2_parts<real>, 2>(); }
    // Added to x / ln 2, rounds it to an integer n and moves n to the low bits of the mantissa. Includes
    // twice the exponent bias, so that scale() can halve n without an arithmetic shift.
    static constexpr real shift() { return coefficient<ln2_parts<real>, 3>(); }
};

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
struct exponential_tail_coefficients {
    static constexpr double of[] = {0x1.000000000000ap-1,  0x1.55555555554fap-3,  0x1.555555555087cp-5,
                                    0x1.1111111127be9p-7,  0x1.6c16c1842a12dp-10, 0x1.a01a012a56844p-13,
                                    0x1.a0199a0c642e1p-16, 0x1.71df2554f7fc2p-19, 0x1.28ad72cf612aep-22,
                                    0x1.ad7f6a95373efp-26};
};
static constexpr double exponential_tail(double r) {
    return polynomial_of<exponential_tail_coefficients>(r);
}
static constexpr float exponential_tail(float r) {
    return polynomial(r, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.555858p-5f, 0x1.123dep-7f, 0x1.6ac74ep-10f);
}

// e^(x + correction) = 2^exponent * (1 + fraction), with the exponent in the low bits of shifted_exponent.
template <typename real>
struct split_exponential {
    typename format<real>::word shifted_exponent;
    real fraction;
};

template <typename real>
static constexpr split_exponential<real> split_exp(real x, real correction) {
    const real shift = ln2<real>::shift();
    const real shifted = fma(x, ln2<real>::inverse(), shift);
    const real n = shifted - shift;
    // The first fma is exact. The second adds up the small parts, so that only one rounding matters.
    const real r = fma(-n, ln2<real>::high(), x) + fma(-n, ln2<real>::low(), correction);
    return {to_bits(shifted), fma(r * r, exponential_tail(r), r)};
}

// x * 2^exponent for 0.001 < |x| < 1000, rounded once, even if the result is subnormal; inf if too large.
// Multiplies by two factors with half the exponent each; the first product is exact.
template <typename real>
static constexpr real scale(real x, typename format<real>::word shifted_exponent) {
    const auto half = shifted_exponent >> 1;
    const real first = from_bits(half << format<real>::mantissa_bits);
    const real second = from_bits((shifted_exponent - half) << format<real>::mantissa_bits);
    return x * first * second;
}

// e^x for every x. Error < 1.1 ulp; inf if too large; if very small, subnormal, then 0.
static constexpr double exp(double x) {
    const auto e = split_exp(clamp(x, -746.0, 710.0), 0.0);
    return scale(1.0 + e.fraction, e.shifted_exponent);
}
static constexpr float exp(float x) {
    const auto e = split_exp(clamp(x, -104.0f, 89.0f), 0.0f);
    return scale(1.0f + e.fraction, e.shifted_exponent);
}

// (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f < sqrt(2).
struct logarithm_tail_coefficients {
    static constexpr double of[] = {
        0x1.555555555556bp-2, -0x1.ffffffffffe7bp-3, 0x1.9999999994dccp-3, -0x1.555555556b1efp-3,
        0x1.249249275d188p-3, -0x1.fffffff3a52fap-4, 0x1.c71c702e36317p-4, -0x1.99999aa0e8c33p-4,
        0x1.745d58ceb3882p-4, -0x1.555576b2d55acp-4, 0x1.3b0d78e317f8dp-4, -0x1.24894c59c162dp-4,
        0x1.1169ffcff544bp-4, -0x1.00cfa221698f4p-4, 0x1.dc97be4ec1533p-5, -0x1.b45e9fe6eb12fp-5,
        0x1.bbacf1e29acc7p-5, -0x1.0106916f88498p-4, 0x1.d2b01b2cc7937p-5, -0x1.8dbdda27af803p-6};
};
static constexpr double logarithm_tail(double f) {
    return long_polynomial_of<logarithm_tail_coefficients>(f);
}
static constexpr float logarithm_tail(float f) {
    return long_polynomial(f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a008p-3f, -0x1.547246p-3f,
                           0x1.22da12p-3f, -0x1.0d853p-3f, 0x1.055bb4p-3f, -0x1.38b688p-4f);
}

// x = 2^exponent * (1 + fraction) with sqrt(1/2) <= 1 + fraction < sqrt(2), for positive normal x.
template <typename real>
struct split_number {
    real exponent;
    real fraction;
};

template <typename real>
static constexpr split_number<real> split(real x) {
    using word = typename format<real>::word;
    const int width = format<real>::mantissa_bits;
    const word one = to_bits(real(1));
    const word root_half = to_bits(real(0x1.6a09e6p-1f));
    const word moved = to_bits(x) - root_half + one;
    // Puts the biased exponent into the low bits of the mantissa of 2^width: its value needs no conversion.
    const real base = from_bits(word(format<real>::exponent_bias + width) << width);
    const real exponent =
        from_bits(to_bits(base) | (moved >> width)) - (base + real(format<real>::exponent_bias));
    const real mantissa = from_bits((moved & ((word{1} << width) - 1)) + root_half);
    return {exponent, mantissa - real(1)};
}

// Splits every positive finite x; scales subnormal numbers up first.
template <typename real>
static constexpr split_number<real> split_any(real x) {
    using number = format<real>;
    const int up = number::mantissa_bits + 2;
    const real factor = from_bits(typename number::word(number::exponent_bias + up) << number::mantissa_bits);
    const bool tiny = x < number::smallest_normal;
    const auto s = split(tiny ? x * factor : x);
    return {s.exponent - (tiny ? real(up) : real(0)), s.fraction};
}

template <typename real>
static constexpr real log_of_parts(split_number<real> s) {
    const real f = s.fraction;
    const real z = f * f;
    const real tail = fma(f * z, logarithm_tail(f), real(-0.5) * z);
    // Exact: whole + lost = exponent * ln2.high + f.
    const real base = s.exponent * ln2<real>::high();
    const real whole = base + f;
    const real lost = f - (whole - base);
    return whole + (fma(s.exponent, ln2<real>::low(), tail) + lost);
}

// log(x) for positive normal x; in single, the radius of Box-Muller takes it. Error < 0.9 ulp.
static constexpr float log_of_normal_range(float x) {
    return log_of_parts(split(x));
}

// log(x) for every x: log(0) = -inf, NaN below zero, log(inf) = inf. Error < 0.9 ulp.
template <typename real>
static constexpr real log(real x) {
    using number = format<real>;
    const real result = log_of_parts(split_any(x));
    const real below = x == real(0) ? -number::infinity : number::nan;
    const real finite = x > real(0) ? result : below;
    return x < number::infinity ? finite : x;
}

// The unevaluated sum high + low, with |low| <= ulp(high) / 2.
template <typename real>
struct two_parts {
    real high;
    real low;
};

// a + b exactly, for |a| >= |b| or a == 0.
template <typename real>
static constexpr two_parts<real> exact_sum(real a, real b) {
    const real sum = a + b;
    return {sum, b - (sum - a)};
}

// Parts of 2 atanh(s) = 2 s + 2/3 s^3 + s^5 atanh_tail(s^2): 2/3 in two parts, coefficients of the tail.
static constexpr two_parts<double> two_thirds(double) {
    return {0x1.5555555555555p-1, 0x1.5555555555555p-55};
}
static constexpr two_parts<float> two_thirds(float) {
    return {0x1.555556p-1f, -0x1.555556p-26f};
}
struct atanh_tail_coefficients {
    static constexpr double of[] = {0x1.9999999999996p-2, 0x1.2492492493038p-2, 0x1.c71c71c58006bp-3,
                                    0x1.745d183281906p-3, 0x1.3b1362a996c67p-3, 0x1.1120b77f76f1bp-3,
                                    0x1.de332510f9d8bp-4, 0x1.eb1395bd4227ep-4};
};
static constexpr double atanh_tail(double z) {
    return polynomial_of<atanh_tail_coefficients>(z);
}
static constexpr float atanh_tail(float z) {
    return polynomial(z, 0x1.999998p-2f, 0x1.24964ep-2f, 0x1.c486bcp-3f, 0x1.b3c634p-3f);
}

// log(x) in two parts for positive finite x. Relative error < 2^-64 in double (2^-35 in float), since pow()
// multiplies it by up to 745 (104). By log(m) = 2 atanh((m - 1) / (m + 1)), with low parts for two terms.
template <typename real>
static constexpr two_parts<real> precise_log(real x) {
    const auto parts = split_any(x);
    const real f = parts.fraction;

    const auto denominator = exact_sum(real(2), f);
    const real inverse = real(1) / denominator.high;
    const real s = f * inverse;
    const real s_low = fma(-s, denominator.low, fma(-s, denominator.high, f)) * inverse;
    const real z = s * s;
    const real z_low = fma(s, s, -z) + real(2) * s * s_low;

    const auto third = two_thirds(real(0));
    const auto factor = exact_sum(third.high, z * atanh_tail(z));
    const real factor_low = factor.low + third.low;
    const real t = z * factor.high;
    const real t_low = fma(z, factor.high, -t) + fma(z, factor_low, z_low * factor.high);
    const real u = s * t;
    const real u_low = fma(s, t, -u) + fma(s, t_low, s_low * t);

    const auto first = exact_sum(parts.exponent * ln2<real>::high(), real(2) * s);
    const auto second = exact_sum(first.high, u);
    const real low =
        (first.low + second.low) + (fma(parts.exponent, ln2<real>::low(), real(2) * s_low) + u_low);
    return exact_sum(second.high, low);
}

// x^y for every x and y, with the special values of C's pow: pow(x, 0) = pow(1, y) = 1 even for NaN, a
// negative x has a result for whole y only. Error < 1.4 ulp; gradual underflow.
template <typename real>
static constexpr real pow(real x, real y) {
    using number = format<real>;
    const real limit = real(number::exponent_bias);
    const real size = abs(x);
    const auto l = precise_log(size);
    const real product = y * l.high;
    const real product_low = fma(y, l.low, fma(y, l.high, -product));
    // Beyond the limit the result is 0 or inf, while product_low may be NaN, from inf - inf.
    const real correction = abs(product) < limit ? product_low : real(0);
    const auto e = split_exp(clamp(product, -limit, limit), correction);
    const real result = scale(real(1) + e.fraction, e.shifted_exponent);

    // Numbers of size 0 and inf have no finite logarithm. For size 1 and infinite y the product is 0 * inf.
    const real extreme = (size == real(0)) == (y < real(0)) ? number::infinity : real(0);
    const bool is_extreme = (size == real(0)) | (size == number::infinity);
    const bool is_number = (x == x) & (y == y);
    const real of_size = is_number ? (is_extreme ? extreme : (size == real(1) ? real(1) : result)) : x + y;

    const bool negative = (to_bits(x) >> (8 * sizeof(real) - 1)) != 0;
    const bool whole = floor(y) == y;
    const bool odd = whole & (floor(y * real(0.5)) * real(2) != y);
    const real with_sign = (negative & odd) ? -of_size : of_size;
    const bool undefined = (x < real(0)) & !whole & (size < number::infinity) & is_number;
    const real defined = undefined ? number::nan : with_sign;
    return ((y == real(0)) | (x == real(1))) ? real(1) : defined;
}

}  // namespace tilewalk::kernels
