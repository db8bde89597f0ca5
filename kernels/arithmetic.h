// SPDX-License-Identifier: Apache-2.0
// The arithmetic that every kernel header stands on: IEEE fma, sqrt and floor, bit patterns, polynomials.
// Std-free, so that g++, clang++, nvcc and NVRTC compile the same text. Contraction is off everywhere: a
// fused multiply-add happens where fma is written and nowhere else, which is why all sides give the same bits
// (nan payloads and signs apart).
//
// Every function of kernels/ is static: one library holds the same header compiled for several instruction
// sets, and a merged (weak) copy could run an instruction that the machine does not have.
#pragma once

namespace tilewalk::kernels {

using word32 = unsigned int;
using word64 = unsigned long long;

// How a floating-point type is laid out.
template <typename real>
struct format;

template <>
struct format<double> {
    using word = word64;
    static constexpr int mantissa_bits = 52;
    static constexpr int exponent_bias = 1023;
    // Adding this to |x| < 2^51 leaves round(x) in the low bits of the mantissa, in two's complement.
    static constexpr double integer_shift = 0x1.8p52;
    static constexpr double smallest_normal = 0x1p-1022;
    static constexpr double infinity = __builtin_bit_cast(double, 0x7ff0000000000000ull);
    static constexpr double nan = __builtin_bit_cast(double, 0x7ff8000000000000ull);
};

template <>
struct format<float> {
    using word = word32;
    static constexpr int mantissa_bits = 23;
    static constexpr int exponent_bias = 127;
    static constexpr float integer_shift = 0x1.8p23f;
    static constexpr float smallest_normal = 0x1p-126f;
    static constexpr float infinity = __builtin_bit_cast(float, 0x7f800000u);
    static constexpr float nan = __builtin_bit_cast(float, 0x7fc00000u);
};

static constexpr word64 to_bits(double x) {
    return __builtin_bit_cast(word64, x);
}
static constexpr word32 to_bits(float x) {
    return __builtin_bit_cast(word32, x);
}
static constexpr double from_bits(word64 bits) {
    return __builtin_bit_cast(double, bits);
}
static constexpr float from_bits(word32 bits) {
    return __builtin_bit_cast(float, bits);
}

// The only switches in kernels/: device compilers know these three as functions, host compilers as builtins.
// Templates, because neither form is a constant expression for every compiler, which only a template may be.
template <typename real>
static constexpr real fma(real a, real b, real c) {
#if defined(__CUDA_ARCH__)
    return ::fma(a, b, c);
#else
    if constexpr (sizeof(real) == sizeof(double)) {
        return __builtin_fma(a, b, c);
    } else {
        return __builtin_fmaf(a, b, c);
    }
#endif
}

template <typename real>
static constexpr real sqrt(real x) {
#if defined(__CUDA_ARCH__)
    return ::sqrt(x);
#else
    if constexpr (sizeof(real) == sizeof(double)) {
        return __builtin_sqrt(x);
    } else {
        return __builtin_sqrtf(x);
    }
#endif
}

template <typename real>
static constexpr real floor(real x) {
#if defined(__CUDA_ARCH__)
    return ::floor(x);
#else
    if constexpr (sizeof(real) == sizeof(double)) {
        return __builtin_floor(x);
    } else {
        return __builtin_floorf(x);
    }
#endif
}

// Clears the sign bit, of nan and zero too.
template <typename real>
static constexpr real abs(real x) {
    return from_bits(to_bits(x) & (~typename format<real>::word{0} >> 1));
}

// The comparison decides alone: min(nan, b) is b, min(a, nan) is nan, and of two zeros the second is
// returned.
template <typename real>
static constexpr real min(real a, real b) {
    return a < b ? a : b;
}

// max(nan, b) is b, max(a, nan) is nan, and of two zeros the second is returned.
template <typename real>
static constexpr real max(real a, real b) {
    return a > b ? a : b;
}

// lowest <= x <= highest, with nan passed on.
template <typename real>
static constexpr real clamp(real x, real lowest, real highest) {
    return min(highest, max(lowest, x));
}

// c0 + c1 x + c2 x^2 + ... by Horner's rule.
template <typename real>
static constexpr real polynomial(real, real c0) {
    return c0;
}
template <typename real, typename... rest>
static constexpr real polynomial(real x, real c0, rest... c) {
    return fma(x, polynomial(x, c...), c0);
}

// The same from the polynomials of the even and of the odd coefficients in x^2: one operation more, half the
// latency. For polynomials so long that a processor cannot overlap enough lanes to hide it.
template <typename real>
struct even_and_odd {
    real even;
    real odd;
};
template <typename real>
static constexpr even_and_odd<real> even_and_odd_parts(real, real c0, real c1) {
    return {c0, c1};
}
template <typename real>
static constexpr even_and_odd<real> even_and_odd_parts(real z, real c0, real c1, real c2) {
    return {fma(z, c2, c0), c1};
}
template <typename real, typename... rest>
static constexpr even_and_odd<real> even_and_odd_parts(real z, real c0, real c1, real c2, real c3,
                                                       rest... c) {
    const auto next = even_and_odd_parts(z, c2, c3, c...);
    return {fma(z, next.even, c0), fma(z, next.odd, c1)};
}
template <typename real, typename... rest>
static constexpr real long_polynomial(real x, real c0, real c1, rest... c) {
    const auto parts = even_and_odd_parts(x * x, c0, c1, c...);
    return fma(x, parts.odd, parts.even);
}

}  // namespace tilewalk::kernels
