// SPDX-License-Identifier: Apache-2.0
// Functions of precision single_fast. kernels::fast has all functions of kernels/operations.h in float; those
// defined here use a GPU's approximate instructions, with error bounds from the PTX manual. Subnormals are
// flushed to zero. Bits depend on the architecture, but not on feeds, grids or the number of GPUs.
#pragma once

#include "kernels/draws.h"
#include "kernels/operations.h"
#include "kernels/shocks.h"

namespace tilewalk::kernels::fast {

using namespace tilewalk::kernels;

namespace approximate {

// 2^x, relative error < 2^-22.
static float exp2(float x) {
    float y = 0;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// log2(x), relative error < 2^-22, and absolute error < 2^-22 for x in (1/2, 2).
static float log2(float x) {
    float y = 0;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// sin(x) and cos(x), absolute error < 2^-20.5 for |x| <= 2 pi.
static float sin(float x) {
    float y = 0;
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static float cos(float x) {
    float y = 0;
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// The square root, relative error < 2^-23.
static float sqrt(float x) {
    float y = 0;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
// min and max are NaN if an operand is NaN.
static float min(float a, float b) {
    float y = 0;
    asm("min.NaN.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
static float max(float a, float b) {
    float y = 0;
    asm("max.NaN.ftz.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
// 1 / x, error < 1 ulp.
static float inverse(float x) {
    float y = 0;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
}  // namespace approximate

static constexpr float log2_of_e = 0x1.715476p+0f;
static constexpr float log_of_2 = 0x1.62e43p-1f;

// e^x, error < 2 + |1.2 x| ulp, dominated by the rounding of the product.
static float exp(float x) {
    return approximate::exp2(x * log2_of_e);
}

// log(x), relative error < 2^-21, and absolute error < 2^-21 for x in (1/2, 2).
static float log(float x) {
    return approximate::log2(x) * log_of_2;
}

static float sqrt(float x) {
    return approximate::sqrt(x);
}

static float min(float a, float b) {
    return approximate::min(a, b);
}
static float max(float a, float b) {
    return approximate::max(a, b);
}

// a / b, error < 2 ulp for |b| from 2^-126 to 2^126; 0 for larger |b|. div.approx is slower and no better.
static float div(float a, float b) {
    return a * approximate::inverse(b);
}

// Subtracts whole turns of 2 pi from x. Beyond some thousands of turns, each doubling of |x| loses a bit.
static float within_a_turn(float x) {
    const float shift = format<float>::integer_shift;
    const float turns = fma(x, 0x1.45f306p-3f, shift) - shift;
    return fma(-turns, -0x1.777a5cp-23f, fma(-turns, 0x1.921fb6p+2f, x));
}

// sin(x) and cos(x), absolute error < 2^-20 for |x| <= 1000.
static float sin(float x) {
    return approximate::sin(within_a_turn(x));
}
static float cos(float x) {
    return approximate::cos(within_a_turn(x));
}

// x^y, relative error < (1 + |y| + |y log2(x)|) * 2^-22, where |y| is due to the absolute error of the
// logarithm near 1. Special values are those of C's pow, as in kernels/exponential.h.
static float pow(float x, float y) {
    const float size = abs(x);
    const float power = approximate::exp2(y * approximate::log2(size));
    const bool whole = floor(y) == y;
    const bool odd = whole & (floor(y * 0.5f) * 2.0f != y);
    const bool negative = (to_bits(x) >> 31) != 0;
    // Every power of 1 is 1, also for infinite y.
    const float of_size = (size == 1.0f) & (y == y) ? 1.0f : power;
    const float with_sign = negative & odd ? -of_size : of_size;
    const bool undefined = (x < 0.0f) & !whole & (size < format<float>::infinity);
    const float defined = undefined ? format<float>::nan : with_sign;
    return (y == 0.0f) | (x == 1.0f) ? 1.0f : defined;
}

// norm_cdf by the polynomial of the exact function, with approximate inverses and exponential: absolute error
// < 2^-21, relative error in the lower tail < (8 + x^2) * 2^-23, down to 2^-126 (x = -13).
static float norm_cdf(float x) {
    const float t = min(largest_tail(x), abs(x));
    const auto p = mills_polynomial(fma(t + t, approximate::inverse(t + 5.0f), -1.0f));
    const float tail =
        p.high * approximate::inverse(t + 1.0f) * approximate::exp2(t * t * (-0.5f * log2_of_e));
    return x > 0.0f ? 1.0f - tail : tail;
}

// normal_to_exponential by a shorter polynomial (Remez exchange): absolute error < 2^-13 for x from -0.85,
// below which laws with a mass at 0 are 0, to 7, where draws end; less for smaller x, down to -11.
static float normal_to_exponential(float x) {
    return polynomial(x, 0x1.62d96cp-1f, 0x1.987fdap-1f, 0x1.4689e8p-2f, 0x1.27ae62p-5f, -0x1.58ebaap-8f,
                      0x1.04182ep-11f, -0x1.b1a5b2p-16f, 0x1.1f13c8p-21f);
}

}  // namespace tilewalk::kernels::fast

namespace tilewalk::kernels {

// Draws of precision single_fast. Normals take the random bits of single_draws and an approximate Box-Muller
// (four approximate functions for two normals); they are within 2^-16 + 2^-22 / radius of normals of
// single_draws. Uniforms are those of single_draws. With other than 10 rounds, random bits differ.
template <int rounds>
struct fast_draws_of {
    using shock = float;
    template <word32 kind, bool is_one_of_several = false>
    using path_bits = typename choose<is_one_of_several, path_stream<kind, rounds>,
                                      prepared_path_stream<kind, rounds>>::type;
    static constexpr int per_block = 4;
    using block = four_shocks;

    static block normals(word64 seed, word64 path, word32 number, stream_key name = {}) {
        return normals_of_block(path_block<rounds>(seed, path, number, normal_stream, name));
    }
    template <class stream>
    static block normals(const stream& bits, word32 number) {
        return normals_of_block(bits[number]);
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number, stream_key name = {}) {
        return single_uniforms_of_block(path_block<rounds>(seed, path, number, uniform_stream, name));
    }
    template <class stream>
    static constexpr block uniforms(const stream& bits, word32 number) {
        return single_draws::uniforms(bits, number);
    }

  private:
    static block normals_of_block(philox_block bits) {
        const auto first = pair_of_bits(bits.x0, bits.x1);
        const auto second = pair_of_bits(bits.x2, bits.x3);
        return {{first.cosine, first.sine, second.cosine, second.sine}};
    }
    static sine_cosine<float> pair_of_bits(word32 w0, word32 w1) {
        // All 32 bits of w0 count, as in single_draws: (w0 + 1/2) / 2^32, rounded.
        const float uniform = fma(float(w0), 0x1p-32f, 0x1p-33f);
        // fabsf, because the approximate logarithm of a number just below 1 may be positive.
        const float radius = fast::approximate::sqrt(fabsf(fast::approximate::log2(uniform)) * 0x1.62e43p+0f);
        // The angle in turns from -1/2 to 1/2, plus 1.5: a float made of 23 random bits.
        const float turns = from_bits(word32(int(w1) >> 9) + to_bits(1.5f));
        const float angle = fma(turns, 0x1.921fb6p+2f, -0x1.2d97c8p+3f);
        return {radius * fast::approximate::sin(angle), radius * fast::approximate::cos(angle)};
    }
};
using fast_draws = fast_draws_of<philox_rounds>;

}  // namespace tilewalk::kernels
