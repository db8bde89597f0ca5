// SPDX-License-Identifier: Apache-2.0
// -2 log(u) of a uniform number u in double, whose root is the radius of Box-Muller. A table of 16 entries
// halves the operations of log(). GPUs read it through the L1 cache, CPUs permute a vector that holds it.
// Table and polynomial are fitted for Tilewalk (a search, and Remez exchange in 120-bit arithmetic).
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// Numbers from `lowest` to 2 * lowest, in 16 intervals of equally many doubles, of which the tenth contains
// 1. An interval's entries are -2 c and 2 log(c), with c near the inverse of its middle. The tenth has c = 1,
// which keeps the relative accuracy near 1. The other c were searched until 2 log(c) had 45 fractional bits
// up to an error below 2^-60, so that its sum with an exponent's part is exact.
struct uniform_log_table {
    static constexpr int bits = 4, entries = 1 << bits;
    static constexpr double lowest = 0.703125;
    static constexpr double inverse[entries] = {-0x1.6422b69a87cfbp+1, -0x1.5564d3ccf223p+1,
                                                -0x1.47a3f782599f6p+1, -0x1.3b062b423b0e2p+1,
                                                -0x1.2f621dee6647ep+1, -0x1.24877c3cd4889p+1,
                                                -0x1.1a734fac9294p+1,  -0x1.110660cd50f5bp+1,
                                                -0x1.084b848153ca7p+1, -0x1.0p+1,
                                                -0x1.e1e719ba92638p+0, -0x1.c70caf656ea7ap+0,
                                                -0x1.af22f0b5086fdp+0, -0x1.998cea64cd424p+0,
                                                -0x1.860f970e83f2cp+0, -0x1.744e3de8d252bp+0};
    static constexpr double logarithm[entries] = {0x1.520ead0c688p-1,  0x1.26c49b6c19cp-1,
                                                  0x1.f95290c033ap-2,  0x1.a8e6eb14348p-2,
                                                  0x1.5bca5051b82p-2,  0x1.112d4c67088p-2,
                                                  0x1.92bde759f1cp-3,  0x1.07b9343e448p-3,
                                                  0x1.053adf09ebp-4,   0,
                                                  -0x1.f04a5718518p-4, -0x1.e2fe4ec6804p-3,
                                                  -0x1.600d0fd8edap-2, -0x1.c93ee97d122p-2,
                                                  -0x1.168cde77313p-1, -0x1.464192b1f8ep-1};
};

struct table_row {
    double inverse, logarithm;
};

#if defined(__CUDACC__)
template <class table>
struct copy_of_table {
    double inverse[table::entries], logarithm[table::entries];
    constexpr copy_of_table() : inverse{}, logarithm{} {
        for (int i = 0; i < table::entries; ++i) {
            inverse[i] = table::inverse[i];
            logarithm[i] = table::logarithm[i];
        }
    }
};
template <class table>
__device__ __align__(128) copy_of_table<table> table_in_memory;
#endif

template <class table>
static constexpr table_row row_of(word64 interval) {
#if defined(__CUDA_ARCH__)
    return {__ldg(&table_in_memory<table>.inverse[interval]),
            __ldg(&table_in_memory<table>.logarithm[interval])};
#else
    return {table::inverse[interval], table::logarithm[interval]};
#endif
}

// A positive normal number as 2^exponent * mantissa, and the table's interval that has the mantissa.
struct number_in_table {
    double exponent, mantissa;
    word64 interval;
};

template <class table>
static constexpr number_in_table find_in(double u) {
    using number = format<double>;
    const int width = number::mantissa_bits;
    const word64 moved = to_bits(u) - to_bits(table::lowest) + to_bits(1.0);
    // Puts the biased exponent into the low bits of the mantissa of 2^width: its value needs no conversion.
    const double base = from_bits(word64(number::exponent_bias + width) << width);
    const double exponent =
        from_bits(to_bits(base) | (moved >> width)) - (base + double(number::exponent_bias));
    const word64 in_octave = moved & ((word64{1} << width) - 1);
    return {exponent, from_bits(in_octave + to_bits(table::lowest)), in_octave >> (width - table::bits)};
}

// -2 log(u) of a number, with its row of uniform_log_table. Error < 1.6 ulp at the end of the interval below
// that of 1 (half an ulp each from r, from its sum with the tail and from the result); elsewhere less.
// Coefficients are literals: in constant memory they left a kernel of four paths a thread too few registers.
static constexpr double minus_two_log(number_in_table u, table_row row) {
    const double r = fma(u.mantissa, row.inverse, 2.0);
    // (-2 log(1 - r / 2) - r) / r^2 for |r| <= 1/16.
    const double tail =
        polynomial(r, 0x1.fffffffffffd9p-3, 0x1.5555555555a49p-4, 0x1.0000000093e8ep-5, 0x1.999999877fc7p-7,
                   0x1.55554315535f3p-8, 0x1.2492da7d97f6ep-9, 0x1.0069fbe3c5037p-10, 0x1.c4ad33f41ed86p-12);
    // Exact, because the high part of ln 2 ends in zeros.
    const double whole = fma(u.exponent, -0x1.62e42fefa38p+0, row.logarithm);
    return whole + (r + fma(r * r, tail, u.exponent * -0x1.ef35793c7673p-44));
}

static constexpr double minus_two_log(double u) {
    const number_in_table found = find_in<uniform_log_table>(u);
    return minus_two_log(found, row_of<uniform_log_table>(found.interval));
}

}  // namespace tilewalk::kernels
