// SPDX-License-Identifier: Apache-2.0
// The loops of the lane machine for one instruction set. Compiled once for each, with
//   -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -fno-exceptions
//   -march=x86-64-v4 -mprefer-vector-width=512 -DTILEWALK_INSTRUCTION_SET=x86_64_v4
//   -march=x86-64-v3 -DTILEWALK_INSTRUCTION_SET=x86_64_v3
//   -DTILEWALK_INSTRUCTION_SET=native                         (other architectures; FMA in the baseline)
// None of these flags changes a bit. No std function may be called here at run time: the linker would keep
// one copy of it for all instruction sets, and the copy might be this one.
#include "engine/cpu/lane_operations.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <utility>

#include "engine/cpu/apply.h"
#include "kernels/shocks.h"

namespace tilewalk::cpu {
namespace {

// Bit 0 of the mode says that a is one number for all lanes, bit 1 b, bit 2 c.
template <program::operation code, int mode>
[[gnu::flatten]] void loop(double* out, const double* a, const double* b, const double* c) {
    constexpr int arity = program::entry_of(code).arity;
    const double a0 = *a;
    const double b0 = arity > 1 ? *b : 0.0;
    const double c0 = arity > 2 ? *c : 0.0;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const double x = (mode & 1) != 0 ? a0 : a[lane];
        const double y = arity < 2 || (mode & 2) != 0 ? b0 : b[lane];
        const double z = arity < 3 || (mode & 4) != 0 ? c0 : c[lane];
        out[lane] = apply<code>(x, y, z);
    }
}

void fill(double* out, double number) {
    for (int lane = 0; lane < lanes; ++lane) out[lane] = number;
}

void copy(double* out, const double* from) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) out[lane] = from[lane];
}

#if defined(__AVX2__)

// What kernels::path_block does, on vectors of 64-bit words whose upper halves hold anything: that is what
// the widening multiplication of the lower halves asks for, and what no compiler finds by itself (GCC 12
// multiplies 64-bit words and shuffles, and makes less than half of the numbers).
#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif
using words [[gnu::vector_size(vector_bytes)]] = kernels::word64;
constexpr int words_per_vector = vector_bytes / 8;

words product_of_lower_halves(words a, words b) {
#if defined(__AVX512F__)
    // The mask is all ones: GCC 12 warns about its own header otherwise.
    return reinterpret_cast<words>(
        _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
    return reinterpret_cast<words>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}

[[gnu::flatten]] void bits(kernels::word64* w0, kernels::word64* w1, std::uint64_t seed,
                           std::uint64_t first_path, std::uint32_t block, kernels::word32 stream) {
    const words zero{};
    words path = zero + first_path;
    for (int i = 0; i < words_per_vector; ++i) path[i] += static_cast<kernels::word64>(i);
    for (int lane = 0; lane < lanes; lane += words_per_vector) {
        words x0 = path;
        words x1 = path >> 32;
        words x2 = zero + block;
        words x3 = zero + stream;
        kernels::philox_key key{static_cast<kernels::word32>(seed), static_cast<kernels::word32>(seed >> 32)};
        for (int round = 0; round < kernels::philox_rounds; ++round) {
            const words p0 = product_of_lower_halves(x0, zero + kernels::philox_multiplier_0);
            const words p1 = product_of_lower_halves(x2, zero + kernels::philox_multiplier_1);
            x0 = (p1 >> 32) ^ x1 ^ (zero + key.low);
            x1 = p1;
            x2 = (p0 >> 32) ^ x3 ^ (zero + key.high);
            x3 = p0;
            key = kernels::next_key(key);
        }
        x0 = (x0 & 0xffffffffu) | (x1 << 32);
        x2 = (x2 & 0xffffffffu) | (x3 << 32);
        __builtin_memcpy(w0 + lane, &x0, sizeof x0);
        __builtin_memcpy(w1 + lane, &x2, sizeof x2);
        path += words_per_vector;
    }
}

#else

[[gnu::flatten]] void bits(kernels::word64* w0, kernels::word64* w1, std::uint64_t seed,
                           std::uint64_t first_path, std::uint32_t block, kernels::word32 stream) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto b =
            kernels::path_block(seed, first_path + static_cast<std::uint64_t>(lane), block, stream);
        w0[lane] = kernels::low_word(b);
        w1[lane] = kernels::high_word(b);
    }
}

#endif

[[gnu::flatten]] void normals(double* first, double* second, std::uint64_t seed, std::uint64_t first_path,
                              std::uint32_t block) {
    alignas(64) kernels::word64 w0[lanes];
    alignas(64) kernels::word64 w1[lanes];
    bits(w0, w1, seed, first_path, block, kernels::normal_stream);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto shocks = kernels::normals_of_bits(w0[lane], w1[lane]);
        first[lane] = shocks.first;
        second[lane] = shocks.second;
    }
}

[[gnu::flatten]] void uniforms(double* first, double* second, std::uint64_t seed, std::uint64_t first_path,
                               std::uint32_t block) {
    alignas(64) kernels::word64 w0[lanes];
    alignas(64) kernels::word64 w1[lanes];
    bits(w0, w1, seed, first_path, block, kernels::uniform_stream);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        first[lane] = kernels::uniform_of_bits(w0[lane]);
        second[lane] = kernels::uniform_of_bits(w1[lane]);
    }
}

// Null for leaves, and for modes in which every operand (or one that there is not) is one number.
template <std::size_t index, int mode>
consteval lane_loop loop_of() {
    constexpr auto code = static_cast<program::operation>(index);
    if constexpr (program::is_leaf(code)) {
        return nullptr;
    } else if constexpr (mode >= (1 << program::entry_of(code).arity) - 1) {
        return nullptr;
    } else {
        return &loop<code, mode>;
    }
}

template <std::size_t index>
consteval std::array<lane_loop, 8> modes_of() {
    return {loop_of<index, 0>(), loop_of<index, 1>(), loop_of<index, 2>(), loop_of<index, 3>(),
            loop_of<index, 4>(), loop_of<index, 5>(), loop_of<index, 6>(), loop_of<index, 7>()};
}

template <std::size_t... index>
consteval lane_operations table(std::string_view name, std::index_sequence<index...>) {
    return {name, {modes_of<index>()...}, &fill, &copy, &normals, &uniforms};
}

consteval std::string_view name_of_this_build() {
#if defined(__AVX512F__)
    return "x86-64-v4";
#elif defined(__AVX2__)
    return "x86-64-v3";
#else
    return "native";
#endif
}

}  // namespace

extern constinit const lane_operations TILEWALK_INSTRUCTION_SET =
    table(name_of_this_build(), std::make_index_sequence<program::operations.size()>{});

}  // namespace tilewalk::cpu
