// SPDX-License-Identifier: Apache-2.0
// The distribution function of the standard normal and its inverse, branch-free, with relative accuracy in
// the lower tail. Polynomials fitted for Tilewalk (Remez exchange in 113-bit arithmetic).
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/exponential.h"

namespace tilewalk::kernels {

// (t + 1) * e^(t^2/2) * norm_cdf(-t) as a polynomial in z = (t - 5) / (t + 5), from t = 0 to where
// norm_cdf(-t) underflows to 0 (38.6 in double, 14.2 in float). The factor t + 1 keeps it between 0.39 and
// 0.53, nearly flat, so that the leading coefficient (in two parts) carries its accuracy.
struct mills_polynomial_coefficients {
    static constexpr double of[] = {
        -0x1.76ff86859eb14p-4, 0x1.fc66cc64a1453p-6,   0x1.47c1d0305482dp-7,   -0x1.b08e0007b688ep-6,
        0x1.92037bab47c83p-6,  -0x1.f11aab02b6b6bp-7,  0x1.ab6d038d273adp-8,   -0x1.b75f4fa0c994ep-10,
        0x1.0571a469dad9ap-17, 0x1.7e61e82f9acb6p-13,  -0x1.c1b1c9d31486p-15,  -0x1.4c0fd3a7f88d4p-17,
        0x1.3003c0d0213fap-17, -0x1.2c35de9d063e3p-24, -0x1.5f36ad5aec807p-20, 0x1.106f994bd715dp-23,
        0x1.a7862fa685fbp-23,  -0x1.ac3678a986355p-26, -0x1.0d57250e1af7ep-25, 0x1.68b2d9475158p-29,
        0x1.2823b48f8f31ap-28, 0x1.1731fa52d78eep-35,  -0x1.2b783aa21be97p-32};
};
static constexpr two_parts<double> mills_polynomial(double z) {
    const double rest = long_polynomial_of<mills_polynomial_coefficients>(z);
    const auto sum = exact_sum(0x1.d8979b0f2b39dp-2, z * rest);
    return {sum.high, sum.low + 0x1.b808a0014a884p-56};
}
static constexpr two_parts<float> mills_polynomial(float z) {
    const float rest =
        polynomial(z, -0x1.76ff86p-4f, 0x1.fc6732p-6f, 0x1.47c1fcp-7f, -0x1.b0963p-6f, 0x1.91fe2ep-6f,
                   -0x1.f0a75p-7f, 0x1.ac5d88p-8f, -0x1.c0cb1p-10f, -0x1.7453f8p-15f, 0x1.a9f8a2p-13f);
    const auto sum = exact_sum(0x1.d8979cp-2f, z * rest);
    return {sum.high, sum.low + -0x1.fb2a4cp-27f};
}

// e^(t^2/2) * norm_cdf(-t) for t >= 0, in two parts.
template <typename real>
static constexpr two_parts<real> mills_ratio(real t) {
    // An argument z whose error vanishes with t, where the polynomial is steepest.
    const auto p = mills_polynomial(fma(t + t, real(1) / (t + real(5)), real(-1)));
    const real sum = t + real(1);
    const real lost = t < real(1) ? t - (sum - real(1)) : real(1) - (sum - t);
    const real inverse = real(1) / sum;
    const real ratio = p.high * inverse;
    // The remainder of the division, and the part of t + 1 lost in rounding.
    const real rest = fma(-ratio, sum, p.high) + fma(-ratio, lost, p.low);
    return {ratio, rest * inverse};
}

// The largest t whose lower tail is not 0.
static constexpr double largest_tail(double) {
    return 38.6;
}
static constexpr float largest_tail(float) {
    return 14.2f;
}

// P(normal <= x) for every x; relative accuracy down to the smallest number (x = -38.5 in double, -14.1 in
// float). Error < 2.2 ulp in double, < 2.6 ulp in float; norm_cdf(0) = 1/2.
template <typename real>
static constexpr real norm_cdf(real x) {
    const real t = min(largest_tail(x), abs(x));
    const real square = t * t;
    const real square_low = fma(t, t, -square);
    const auto e = split_exp(real(-0.5) * square, real(-0.5) * square_low);
    const auto ratio = mills_ratio(t);
    const real tail = scale(ratio.high + fma(ratio.high, e.fraction, ratio.low), e.shifted_exponent);
    return x > real(0) ? real(1) - tail : tail;
}

// Coefficients of normal_to_exponential, for its range of x mapped to [-1, 1].
struct exponential_polynomial_coefficients {
    static constexpr double of[] = {
        0x1.4b85f38d7c05cp+3,   0x1.520c6f2f8a18fp+4,   0x1.7d54b38b8ca08p+3,   0x1.7cef6bcb6b2dbp-2,
        -0x1.fb0474f5da855p-3,  0x1.4d7b31171f7fcp-3,   -0x1.a48cd8e227419p-4,  0x1.ee15fb4b37118p-5,
        -0x1.02cdba2c47433p-5,  0x1.b3961a0a069fep-7,   -0x1.5e877f60b97afp-9,  -0x1.55aa12b85aa47p-9,
        0x1.2510a785bfb0cp-8,   -0x1.1ff5c0c4e6144p-8,  0x1.bd0d79aba4332p-9,   -0x1.1aa3b7f6a1ec1p-9,
        0x1.2f10831060434p-10,  -0x1.ec7e035972a5fp-12, -0x1.29c4826304a19p-12, 0x1.a322aea15e0cep-11,
        -0x1.2965e6d4aa671p-14, -0x1.74906acbd41b1p-11, -0x1.7f413a6db446fp-11, 0x1.fbd438c58699ap-10,
        0x1.eed9047e6b3b8p-12,  -0x1.34a87495917dp-9,   -0x1.9f6933bc42b6fp-13, 0x1.16b50a22d35f8p-9,
        -0x1.997d7c46d87bbp-14, -0x1.6b7dc38cfb9eep-10, 0x1.391085e27c2b9p-12,  0x1.0a2fb54b288e1p-11,
        -0x1.77ce9b6366713p-13, -0x1.3eb2f9d1ad816p-14, 0x1.207e2b7a2e6f7p-15};
};

// -log(norm_cdf(-x)): the exponential number that is exceeded with the same probability as the standard
// normal x. Valid from x = -1 to where draws end (9 in double, 7 in float), clamped beyond: laws with a mass
// at 0 are 0 for smaller x. Absolute error < 2^-45 in double, 2^-18 in float.
static constexpr double normal_to_exponential(double x) {
    return long_polynomial_of<exponential_polynomial_coefficients>(fma(clamp(x, -1.0, 9.0), 0.2, -0.8));
}
static constexpr float normal_to_exponential(float x) {
    return polynomial(fma(clamp(x, -1.0f, 7.0f), 0.25f, -0.75f), 0x1.a6e4fcp+2f, 0x1.a43c8ep+3f,
                      0x1.dbdfbep+2f, 0x1.57d27p-2f, -0x1.9dccaep-3f, 0x1.d86aacp-4f, -0x1.e97986p-5f,
                      0x1.d2e8c2p-6f, -0x1.76ee28p-7f, -0x1.60e688p-10f, 0x1.ecfd3p-8f, -0x1.3ef57p-8f,
                      0x1.04a6f6p-10f);
}

// norm_inv(p) = (2 p - 1) * g(w) with w = -log(4 p (1 - p)). In the centre, up to largest_centre, g is
// sqrt(pi/2) + w * centre_polynomial(w). In the tail a first guess of g has a relative error of 2^-20 (2^-16
// in float), and one correction step takes it below the rounding.
struct centre_polynomial_coefficients {
    static constexpr double of[] = {0x1.4ffddeaa22c8ap-2,   0x1.0b9a8ec5e3af5p-6,   -0x1.b0d7e37ba3999p-9,
                                    -0x1.7bc0dbe3829abp-13, 0x1.147b45a413f46p-14,  0x1.7f7b921cdbe8p-19,
                                    -0x1.80984c5920b51p-20, -0x1.bde76f5764469p-25, 0x1.0f90153990e2ap-25,
                                    0x1.770594fdf817bp-30,  -0x1.bf8e5631fdb18p-31, -0x1.0845038a201ccp-35,
                                    0x1.02fdc4331948fp-35,  -0x1.f1c9cea0fd8e2p-39, 0x1.3986298c68c54p-43};
};
static constexpr double centre_polynomial(double w) {
    return long_polynomial_of<centre_polynomial_coefficients>(w);
}
static constexpr float centre_polynomial(float w) {
    return polynomial(w, 0x1.4ffddcp-2f, 0x1.0b9cc4p-6f, -0x1.b12372p-9f, -0x1.7218b4p-13f, 0x1.fcb718p-15f,
                      0x1.b3f9acp-18f, -0x1.8f48bcp-19f, 0x1.64e8a6p-22f, -0x1.c9b262p-27f);
}
static constexpr double largest_centre(double) {
    return 2.5;
}
static constexpr float largest_centre(float) {
    return 4.0f;
}
static constexpr two_parts<double> root_of_half_pi(double) {
    return {0x1.40d931ff62706p+0, -0x1.a6a0d6f814637p-54};
}
static constexpr two_parts<float> root_of_half_pi(float) {
    return {0x1.40d932p+0f, -0x1.3b1f4ep-33f};
}

// g / (sqrt(w) + 3) as a polynomial in (sqrt(w) - 3) / (sqrt(w) + 3).
struct guess_polynomial_coefficients {
    static constexpr double of[] = {
        0x1.55e1e3854b99fp-1,  0x1.7f69decbaa089p-1,  0x1.485bb1fa54297p-4,  -0x1.3eef1df627965p-2,
        0x1.09baa9efd394dp+0,  -0x1.1e3fed7af515p+1,  -0x1.f1d8aa1c8aa1ep-1, 0x1.115b3840b9986p+4,
        -0x1.81cca21e0a67ap+4, -0x1.84c6a23bb039bp+5, 0x1.5261f94abbbd1p+7,  -0x1.267c6c642bbafp+6,
        -0x1.5090df1944558p+8, 0x1.34991cb05d482p+9,  -0x1.af5405f3225c8p+8, 0x1.c4f0f331cbb17p+6};
};
static constexpr double guess_polynomial(double z) {
    return long_polynomial_of<guess_polynomial_coefficients>(z);
}
static constexpr float guess_polynomial(float z) {
    return polynomial(z, 0x1.55e0b4p-1f, 0x1.7f7772p-1f, 0x1.5669aap-4f, -0x1.4f7592p-2f, 0x1.b8b1c2p-1f,
                      -0x1.51ceeep+0f, 0x1.82cc8p-1f, 0x1.fb1cfcp-5f);
}

// The x with norm_cdf(x) = p: -inf for 0, inf for 1, NaN outside [0, 1]. Error < 3 ulp, also in the tail.
template <typename real>
static constexpr real norm_inv(real p) {
    const real lower = p < real(0.5) ? p : real(1) - p;
    const real log_lower = log(lower);
    const real offset = real(2) * (p - real(0.5));
    const real w = -log(real(4) * lower * (real(1) - lower));

    const auto root = root_of_half_pi(p);
    const real centre_w = min(largest_centre(p), max(real(0), w));
    const real centre = fma(offset, root.high, offset * fma(centre_w, centre_polynomial(centre_w), root.low));

    const real s = sqrt(max(largest_centre(p), w));
    const real sum = s + real(3);
    const real guess = abs(offset) * sum * guess_polynomial((s - real(3)) / sum);
    // One Halley step on log(norm_cdf(-x)) = log(p). The logarithm of p / norm_cdf(-x) is that of e^d / ratio
    // with d = log(p) + x^2 / 2, so nothing underflows; it is small: four terms of its series suffice.
    const auto ratio = mills_ratio(guess);
    const auto e = split_exp(fma(real(0.5) * guess, guess, log_lower), real(0));
    const real part = (scale(real(1) + e.fraction, e.shifted_exponent) - ratio.high - ratio.low) / ratio.high;
    const real log_error =
        part * polynomial(part, real(1), real(-0.5), real(0x1.5555555555555p-2), real(-0.25));
    const real step = -log_error * ratio.high * real(0x1.40d931ff62706p+1);
    const real second = real(0.5) * step * fma(guess, step, log_error);
    const real size = guess + (step + second);
    const real tail = offset < real(0) ? -size : size;

    const real inside = w <= largest_centre(p) ? centre : tail;
    const real bounded =
        lower > real(0) ? inside : (p < real(0.5) ? -format<real>::infinity : format<real>::infinity);
    return lower >= real(0) ? bounded : format<real>::nan;
}

}  // namespace tilewalk::kernels
