// SPDX-License-Identifier: Apache-2.0
// The arithmetic that all other kernel headers build on: IEEE fma, sqrt and floor, bit patterns, polynomials.
// No standard library, so that g++, clang++, nvcc and NVRTC compile the same text. Compilers may not contract
// a * b + c: an fma is only what is written as one, so all give the same bits (NaN payloads and signs
// excepted).
//
// Every function of kernels/ is static: a library has a header compiled for several instruction sets. Of
// functions that are not, the linker would keep one copy, whose instructions the machine may lack.
#pragma once

namespace tilewalk::kernels {

using word32 = unsigned int;
using word64 = unsigned long long;

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

// Code that depends on the compiler is here and in loops.h only. Device compilers have fma, sqrt and floor as
// functions, host compilers as builtins. Where these can't be evaluated at compile time, only a template that
// calls them may be constexpr.
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

// Clears the sign bit, also of NaN and zero.
template <typename real>
static constexpr real abs(real x) {
    return from_bits(to_bits(x) & (~typename format<real>::word{0} >> 1));
}

// min(nan, b) is b, min(a, nan) is nan, and of two zeros the second is returned.
template <typename real>
static constexpr real min(real a, real b) {
    return a < b ? a : b;
}

// max(nan, b) is b, max(a, nan) is nan, and of two zeros the second is returned.
template <typename real>
static constexpr real max(real a, real b) {
    return a > b ? a : b;
}

// Limits x to [lowest, highest]; NaN stays NaN.
template <typename real>
static constexpr real clamp(real x, real lowest, real highest) {
    return min(highest, max(lowest, x));
}

static constexpr word64 wide_product(word32 a, word32 b) {
#if defined(__CUDACC_RTC__)
    // One instruction. A product of converted words would also add products of their upper halves, all 0.
    word64 product = 0;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return word64{a} * b;
#endif
}

// sqrt(x) for x in [2^-500, 2^500].
static constexpr double sqrt_of_middle_range(double x) {
#if defined(__CUDACC_RTC__)
    // The steps of CUDA's own correctly rounded square root, without its branch and call for extreme numbers,
    // which keep the compiler from interleaving the work on neighbouring paths.
    double guess = 0;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
    const double error = fma(x, -(guess * guess), 1.0);
    const double inverse = fma(fma(error, 0.375, 0.5), guess * error, guess);
    const double root = x * inverse;
    const double half = from_bits(to_bits(inverse) - (word64{1} << 52));
    return fma(fma(root, -root, x), half, root);
#else
    return sqrt(x);
#endif
}
// sqrt(x) for x in [2^-60, 2^60] and for 0.
static constexpr float sqrt_of_middle_range(float x) {
#if defined(__CUDACC_RTC__)
    const float above_zero = x > 0x1p-60f ? x : 0x1p-60f;
    float inverse = 0;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(above_zero));
    const float root = x * inverse;
    return fma(fma(root, -root, x), inverse * 0.5f, root);
#else
    return sqrt(x);
#endif
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

// The even and odd parts of c0 + c1 x + ..., polynomials in x^2: one operation more than Horner's rule, half
// the latency. For long polynomials on processors that can't hide latency behind other lanes.
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

// Coefficients are passed as a type with the array `of`. A GPU's instructions read them from constant memory;
// a double literal takes two instructions more, which nearly doubles those of a polynomial.
#if defined(__CUDACC_RTC__)
template <class coefficients>
struct copy_of_coefficients {
    double of[sizeof(coefficients::of) / sizeof(double)];
    constexpr copy_of_coefficients() : of{} {
        for (unsigned i = 0; i < sizeof(of) / sizeof(double); ++i) of[i] = coefficients::of[i];
    }
};
// Not const, since the compiler would turn constants back into literals.
template <class coefficients>
__constant__ copy_of_coefficients<coefficients> coefficients_in_memory;
#endif

template <class coefficients, int i>
static constexpr auto coefficient() {
#if defined(__CUDACC_RTC__)
    if constexpr (sizeof(coefficients::of[0]) == sizeof(double)) {
        return coefficients_in_memory<coefficients>.of[i];
    } else {
        return coefficients::of[i];
    }
#else
    return coefficients::of[i];
#endif
}

template <class coefficients>
static constexpr int count_of = int(sizeof(coefficients::of) / sizeof(double));

template <class coefficients, int i = 0>
static constexpr double polynomial_of(double x) {
    if constexpr (i + 1 == count_of<coefficients>) {
        return coefficient<coefficients, i>();
    } else {
        return fma(x, polynomial_of<coefficients, i + 1>(x), coefficient<coefficients, i>());
    }
}

template <class coefficients, int i = 0>
static constexpr even_and_odd<double> even_and_odd_parts_of(double z) {
    if constexpr (i + 2 == count_of<coefficients>) {
        return {coefficient<coefficients, i>(), coefficient<coefficients, i + 1>()};
    } else if constexpr (i + 3 == count_of<coefficients>) {
        return {fma(z, coefficient<coefficients, i + 2>(), coefficient<coefficients, i>()),
                coefficient<coefficients, i + 1>()};
    } else {
        const auto next = even_and_odd_parts_of<coefficients, i + 2>(z);
        return {fma(z, next.even, coefficient<coefficients, i>()),
                fma(z, next.odd, coefficient<coefficients, i + 1>())};
    }
}
template <class coefficients>
static constexpr double long_polynomial_of(double x) {
    const auto parts = even_and_odd_parts_of<coefficients>(x * x);
    return fma(x, parts.odd, parts.even);
}

}  // namespace tilewalk::kernels
