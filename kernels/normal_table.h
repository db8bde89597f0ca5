// SPDX-License-Identifier: Apache-2.0
// Inverts the normal distribution, random bits to a normal, by a table: a polynomial for each of several
// equal parts of each octave of the probability. A tenth of the work of norm_inv, which makes the table.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// Rows go from probability 1/2 down, so half of all numbers use the rows of the first octave.
template <class shock>
struct normal_table;

// Six coefficients, the last four as floats: a part is so small that each power contributes 2^7 times less
// than the one before. Error < 4e-12 (tests/kernels/normal_table_test.cpp).
template <>
struct normal_table<double> {
    static constexpr int bits_of_part = 5, octaves = 53, rows = octaves << bits_of_part;
    static constexpr int coefficients = 6, doubles = 2;
    const double* low;  // [coefficient][row], of the first two
    const float* high;  // [coefficient - 2][row]
};

// Four coefficients. Error < 4e-7.
template <>
struct normal_table<float> {
    static constexpr int bits_of_part = 4, octaves = 33, rows = octaves << bits_of_part;
    static constexpr int coefficients = 4;
    const float* all;  // [row][coefficient]
};

// A probability's row of the table, and its place in that row's part, from -1 to 1.
template <class shock>
struct normal_place {
    word32 row;
    shock t;
    bool is_upper;  // the number is not below the middle
};

// Bits w < 2^63 stand for the probability (floor(w / 2^11) + 1/2) / 2^53; larger w mirror them.
static constexpr normal_place<double> place_in_normals(word64 w) {
    using table = normal_table<double>;
    const bool is_upper = w >> 63 != 0;
    const word64 v = (is_upper ? ~w : w) >> 11;
    // The probability times 2^53, without converting an integer: v has 52 bits.
    const double p = (from_bits(v | to_bits(0x1p52)) - 0x1p52) + 0.5;
    constexpr int shift = format<double>::mantissa_bits - table::bits_of_part;
    constexpr word64 last = (to_bits(0x1p52) >> shift) - 1;
    const word64 bits = to_bits(p);
    const word64 in_part = bits << table::bits_of_part & ((word64{1} << format<double>::mantissa_bits) - 1);
    return {word32(last - (bits >> shift)), fma(2.0, from_bits(in_part | to_bits(1.0)), -3.0), is_upper};
}
// Bits w < 2^31 stand for the probability (w + 1/2) / 2^32; larger w mirror them.
static constexpr normal_place<float> place_in_normals(word32 w) {
    using table = normal_table<float>;
    const bool is_upper = w >> 31 != 0;
    const float p = float(is_upper ? ~w : w) + 0.5f;
    constexpr int shift = format<float>::mantissa_bits - table::bits_of_part;
    constexpr word32 last = (to_bits(0x1p32f) >> shift) - 1;
    const word32 bits = to_bits(p);
    const word32 in_part = bits << table::bits_of_part & ((word32{1} << format<float>::mantissa_bits) - 1);
    return {last - (bits >> shift), fma(2.0f, from_bits(in_part | to_bits(1.0f)), -3.0f), is_upper};
}

static constexpr double normal_in_table(const normal_place<double>& at, double c0, double c1, float c2,
                                        float c3, float c4, float c5) {
    const float t = float(at.t);
    const float high = fma(fma(fma(c5, t, c4), t, c3), t, c2);
    const double size = fma(fma(double(high), at.t, c1), at.t, c0);
    return at.is_upper ? size : -size;
}
static constexpr float normal_in_table(const normal_place<float>& at, float c0, float c1, float c2,
                                       float c3) {
    const float size = fma(fma(fma(c3, at.t, c2), at.t, c1), at.t, c0);
    return at.is_upper ? size : -size;
}

static constexpr double normal_of(const normal_table<double>& in, const normal_place<double>& at) {
    constexpr int rows = normal_table<double>::rows;
    const double* const low = in.low + at.row;
    const float* const high = in.high + at.row;
    return normal_in_table(at, low[0], low[rows], high[0], high[rows], high[2 * rows], high[3 * rows]);
}
static constexpr float normal_of(const normal_table<float>& in, const normal_place<float>& at) {
    const float* const c = in.all + 4 * at.row;
    return normal_in_table(at, c[0], c[1], c[2], c[3]);
}

}  // namespace tilewalk::kernels
