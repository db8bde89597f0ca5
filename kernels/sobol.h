// SPDX-License-Identifier: Apache-2.0
// Sobol points with nested uniform (Owen) scrambling, as a pure function of the index and of the words of a
// randomisation and a dimension. Points are kept bit-reversed, first binary digit lowest, so that products
// carry towards later digits: a scramble flips a digit depending on all digits before it.
#pragma once

#include "kernels/inversion.h"
#include "kernels/normal_table.h"
#include "kernels/philox.h"

namespace tilewalk::kernels {

// Bits of a point's index, and digits of its coordinates before scrambling.
static constexpr int bits_of_index = 32;

static constexpr word32 reversed(word32 x) {
#if defined(__CUDA_ARCH__)
    return __brev(x);
#else
    x = (x >> 16) | (x << 16);
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
#endif
}

static constexpr word32 no_dimension = ~word32{0};

// The bit-reversed coordinate of point `index`, in the dimension whose direction numbers these are.
static constexpr word32 point_of(const word32* directions, word32 index) {
    word32 x = 0;
    for (int bit = 0; index >> bit != 0; ++bit) x ^= (0 - (index >> bit & 1)) & directions[bit];
    return x;
}

// Words by which a randomisation scrambles a dimension of a factor; different for all dimensions and factors.
struct scramble {
    word32 first, second, third, fourth;
};
static constexpr scramble scramble_of(word64 seed, word32 randomisation, word32 dimension,
                                      stream_key factor) {
    const philox_block of = path_block(seed, randomisation, dimension, shift_stream, factor);
    return {of.x0, of.x1, of.x2, of.x3};
}

// Permutes bit-reversed coordinates such that each bit depends on itself and lower bits, as if a coin for
// each prefix decided whether to flip the next digit. A hash after Laine and Karras ("Stratified sampling for
// stochastic transparency", 2011), with products by even numbers mixed in between.
static constexpr word32 scrambled(word32 x, const scramble& by) {
    x ^= x * 0x3d20adeau;
    x += by.first;
    x *= by.second | 1;
    x ^= x * 0x05526c56u;
    x += by.third;
    x *= by.fourth | 1;
    return x ^ x * 0x53a22864u;
}

// Digits after a point's own 32: pseudo-random for each coordinate, and different for any two coordinates.
static constexpr word32 further_digits(word32 x, const scramble& by) {
    x = (x ^ by.fourth) + by.second;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The digits of a scrambled coordinate, the first on top: 64 for a shock in double, 32 in single.
static constexpr word64 digits_of(word32 point, const scramble& by, double) {
    const word32 x = scrambled(point, by);
    return word64(reversed(x)) << 32 | further_digits(x, by);
}
static constexpr word32 digits_of(word32 point, const scramble& by, float) {
    return reversed(scrambled(point, by));
}

// The shock of a bit-reversed coordinate `point`. normals(place) looks up a normal in a table.
template <shock_kind kind, class shock, class table>
static constexpr shock shock_of_point(word32 point, const scramble& by, const table& normals) {
    const auto digits = digits_of(point, by, shock{});
    if constexpr (kind == shock_kind::normal) {
        return normals(place_in_normals(digits));
    } else {
        return uniform_of_bits(digits);
    }
}

}  // namespace tilewalk::kernels
