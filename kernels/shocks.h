// SPDX-License-Identifier: Apache-2.0
// Shocks as pure functions of seed, path, block and name: 128 random bits make two in double, four in single.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/trigonometric.h"
#include "kernels/uniform_logarithm.h"

namespace tilewalk::kernels {

struct pair_of_shocks {
    double first;
    double second;
};

struct four_shocks {
    float x[4];
};

// (w / 2^12 + 1/2) / 2^52: strictly inside (0, 1), every value exact, symmetric about 1/2.
static constexpr double uniform_of_bits(word64 w) {
    return from_bits((w >> 12) | to_bits(1.0)) - (1.0 - 0x1p-53);
}

// (w / 2^9 + 1/2) / 2^23: strictly inside (0, 1), every value exact.
static constexpr float uniform_of_bits(word32 w) {
    return from_bits((w >> 9) | to_bits(1.0f)) - (1.0f - 0x1p-24f);
}

static constexpr number_in_table radius_in_table(word64 w0) {
    return find_in<uniform_log_table>(uniform_of_bits(w0));
}
// Two normals by Box-Muller. The largest is sqrt(-2 log 2^-53) = 8.57. `row` is that of radius_in_table(w0).
static constexpr pair_of_shocks normals_of_bits(word64 w0, word64 w1, table_row row) {
    const double radius = sqrt_of_middle_range(minus_two_log(radius_in_table(w0), row));
    const auto direction = sincos_of_turn(w1);
    return {radius * direction.cosine, radius * direction.sine};
}
static constexpr pair_of_shocks normals_of_bits(word64 w0, word64 w1) {
    return normals_of_bits(w0, w1, row_of<uniform_log_table>(radius_in_table(w0).interval));
}

// Two normals. The radius uses all 32 bits: (w0 + 1/2) / 2^32, so the largest is sqrt(-2 log 2^-33) = 6.76.
static constexpr sine_cosine<float> normals_of_bits(word32 w0, word32 w1) {
    const float radius =
        sqrt_of_middle_range(-2.0f * log_of_normal_range(fma(float(w0), 0x1p-32f, 0x1p-33f)));
    const auto direction = sincos_of_turn(w1);
    return {radius * direction.sine, radius * direction.cosine};
}

static constexpr word64 low_word(philox_block b) {
    return b.x0 | (word64{b.x1} << 32);
}
static constexpr word64 high_word(philox_block b) {
    return b.x2 | (word64{b.x3} << 32);
}

static constexpr pair_of_shocks normals_of_block(philox_block bits) {
    return normals_of_bits(low_word(bits), high_word(bits));
}
static constexpr pair_of_shocks uniforms_of_block(philox_block bits) {
    return {uniform_of_bits(low_word(bits)), uniform_of_bits(high_word(bits))};
}
static constexpr four_shocks single_normals_of_block(philox_block bits) {
    const auto first = normals_of_bits(bits.x0, bits.x1);
    const auto second = normals_of_bits(bits.x2, bits.x3);
    return {{first.cosine, first.sine, second.cosine, second.sine}};
}
static constexpr four_shocks single_uniforms_of_block(philox_block bits) {
    return {{uniform_of_bits(bits.x0), uniform_of_bits(bits.x1), uniform_of_bits(bits.x2),
             uniform_of_bits(bits.x3)}};
}

static constexpr pair_of_shocks normals(word64 seed, word64 path, word32 block, stream_key name = {}) {
    return normals_of_block(path_block(seed, path, block, normal_stream, name));
}
static constexpr pair_of_shocks uniforms(word64 seed, word64 path, word32 block, stream_key name = {}) {
    return uniforms_of_block(path_block(seed, path, block, uniform_stream, name));
}
static constexpr four_shocks single_normals(word64 seed, word64 path, word32 block, stream_key name = {}) {
    return single_normals_of_block(path_block(seed, path, block, normal_stream, name));
}
static constexpr four_shocks single_uniforms(word64 seed, word64 path, word32 block, stream_key name = {}) {
    return single_uniforms_of_block(path_block(seed, path, block, uniform_stream, name));
}

}  // namespace tilewalk::kernels
