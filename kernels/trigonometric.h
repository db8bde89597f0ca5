// SPDX-License-Identifier: Apache-2.0
// The sine and cosine of an angle and, for Box-Muller, of a part of a turn given in integer bits, which needs
// no range reduction and no rounded 2 pi. Branch-free; polynomials fitted for Tilewalk (Remez exchange in
// 113-bit arithmetic).
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

template <typename real>
struct sine_cosine {
    real sine;
    real cosine;
};

// sin(r) and cos(r) for |r| <= pi/4.
struct sine_polynomial_coefficients {
    static constexpr double of[] = {-0x1.5555555555548p-3, 0x1.111111110f73p-7,    -0x1.a01a019be9217p-13,
                                    0x1.71de35552b4afp-19, -0x1.ae5e4b83e1c67p-26, 0x1.5d8b559857b8cp-33};
};
static constexpr double sine_polynomial(double r) {
    const double z = r * r;
    return fma(r * z, polynomial_of<sine_polynomial_coefficients>(z), r);
}
static constexpr float sine_polynomial(float r) {
    const float z = r * r;
    return fma(r * z, polynomial(z, -0x1.555546p-3f, 0x1.110778p-7f, -0x1.9953fep-13f), r);
}
struct cosine_polynomial_coefficients {
    static constexpr double of[] = {0x1.5555555555555p-5,   -0x1.6c16c16c163c3p-10, 0x1.a01a019e50d8dp-16,
                                    -0x1.27e4f91cfe5e1p-22, 0x1.1eea98d21f89fp-29,  -0x1.900203ab78a6dp-37};
};
static constexpr double cosine_polynomial(double r) {
    const double z = r * r;
    const double tail = polynomial_of<cosine_polynomial_coefficients>(z);
    return fma(z, fma(z, tail, -0.5), 1.0);
}
static constexpr float cosine_polynomial(float r) {
    const float z = r * r;
    return fma(z, fma(z, polynomial(z, 0x1.555554p-5f, -0x1.6c114ep-10f, 0x1.9b3054p-16f), -0.5f), 1.0f);
}

// sin(pi/2 v) and cos(pi/2 v) for |v| <= 1/2.
struct quarter_sine_polynomial_coefficients {
    static constexpr double of[] = {0x1.921fb54442d18p+0,  -0x1.4abbce625bdaep-1, 0x1.466bc6774afcep-4,
                                    -0x1.32d2ccd46a411p-8, 0x1.507821d4e0635p-13, -0x1.e2f3f0f3f991bp-19,
                                    0x1.dfc5ba14c910fp-25};
};
static constexpr double quarter_sine_polynomial(double v) {
    const double z = v * v;
    return v * polynomial_of<quarter_sine_polynomial_coefficients>(z);
}
static constexpr float quarter_sine_polynomial(float v) {
    const float z = v * v;
    return v * polynomial(z, 0x1.921fb6p+0f, -0x1.4abc24p-1f, 0x1.4680a4p-4f, -0x1.33198ep-8f);
}
struct quarter_cosine_polynomial_coefficients {
    static constexpr double of[] = {-0x1.3bd3cc9be45dep+0, 0x1.03c1f081b5a52p-2,   -0x1.55d3c7e3bfe56p-6,
                                    0x1.e1f50675b20c9p-11, -0x1.a6d1e238eed69p-16, 0x1.f9c4adc187b6ep-22,
                                    -0x1.b0345f56ad5edp-28};
};
static constexpr double quarter_cosine_polynomial(double v) {
    const double z = v * v;
    return fma(z, polynomial_of<quarter_cosine_polynomial_coefficients>(z), 1.0);
}
static constexpr float quarter_cosine_polynomial(float v) {
    const float z = v * v;
    return fma(z, polynomial(z, -0x1.3bd3ccp+0f, 0x1.03c1bp-2f, -0x1.55b2b6p-6f, 0x1.d4f7eep-11f), 1.0f);
}

// A sine and cosine rotated by `quarters` right angles, a number whose two lowest bits alone count.
template <typename real>
static constexpr sine_cosine<real> turn(real sine, real cosine, typename format<real>::word quarters) {
    using word = typename format<real>::word;
    const int to_sign = 8 * int(sizeof(real)) - 2;
    const bool swapped = (quarters & 1) != 0;
    const word sine_sign = (quarters & 2) << to_sign;
    const word cosine_sign = ((quarters + 1) & 2) << to_sign;
    return {from_bits(to_bits(swapped ? cosine : sine) ^ sine_sign),
            from_bits(to_bits(swapped ? sine : cosine) ^ cosine_sign)};
}

// pi/2 in three parts. x - n * first is exact for |x| <= 2^20, as both lie on one grid and are close.
template <typename real>
struct half_pi;
template <>
struct half_pi<double> {
    static constexpr double first = 0x1.921fb54442d18p+0;
    static constexpr double second = 0x1.1a62633145c07p-54;
    static constexpr double third = -0x1.f1976b7ed8fbcp-110;
    static constexpr double inverse = 0x1.45f306dc9c883p-1;
};
template <>
struct half_pi<float> {
    static constexpr float first = 0x1.921fb6p+0f;
    static constexpr float second = -0x1.777a5cp-25f;
    static constexpr float third = -0x1.ee59dap-50f;
    static constexpr float inverse = 0x1.45f306p-1f;
};

// sin(x) and cos(x) for |x| <= 2^20; NaN beyond and for inf. Error < 1.6 ulp.
template <typename real>
static constexpr sine_cosine<real> sincos(real x) {
    const real shift = format<real>::integer_shift;
    const real shifted = fma(x, half_pi<real>::inverse, shift);
    const real n = shifted - shift;
    const real r =
        fma(-n, half_pi<real>::third, fma(-n, half_pi<real>::second, fma(-n, half_pi<real>::first, x)));
    const auto turned = turn(sine_polynomial(r), cosine_polynomial(r), to_bits(shifted));
    const real size = abs(x);
    const bool valid = size <= real(0x1p20f);
    // Keeps the sign of zero, which the sums of r lose.
    const real sine = size == real(0) ? x : turned.sine;
    return {valid ? sine : format<real>::nan, valid ? turned.cosine : format<real>::nan};
}

// sin(x) for |x| <= 2^20, NaN beyond. Error < 1.6 ulp.
template <typename real>
static constexpr real sin(real x) {
    return sincos(x).sine;
}

// cos(x) for |x| <= 2^20, NaN beyond. Error < 1.6 ulp.
template <typename real>
static constexpr real cos(real x) {
    return sincos(x).cosine;
}

// sin and cos of 2 pi turn_bits / 2^64, with the angle cut to 52 bits of a quarter turn, an error below 2^-53
// turns. Error < 1.6 ulp of the value at the cut angle.
static constexpr sine_cosine<double> sincos_of_turn(word64 turn_bits) {
    // Adds half a quarter, so that the rest lies in [-1/2, 1/2) quarters around quarter number moved >> 62.
    const word64 moved = turn_bits + (word64{1} << 61);
    const double v = from_bits(((moved << 2) >> 12) | to_bits(1.0)) - 1.5;
    return turn(quarter_sine_polynomial(v), quarter_cosine_polynomial(v), moved >> 62);
}

// sin and cos of 2 pi turn_bits / 2^32, with the angle cut to 23 bits of a quarter turn. Error < 1.6 ulp.
static constexpr sine_cosine<float> sincos_of_turn(word32 turn_bits) {
    const word32 moved = turn_bits + (word32{1} << 29);
    const float v = from_bits(((moved << 2) >> 9) | to_bits(1.0f)) - 1.5f;
    return turn(quarter_sine_polynomial(v), quarter_cosine_polynomial(v), moved >> 30);
}

}  // namespace tilewalk::kernels
