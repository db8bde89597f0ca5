// SPDX-License-Identifier: Apache-2.0
// The lane machine's loops for one instruction set. Compiled once for each, with
//   -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -fno-exceptions
//   -march=x86-64-v4 -mprefer-vector-width=512 -DTILEWALK_INSTRUCTION_SET=x86_64_v4
//   -march=x86-64-v3 -DTILEWALK_INSTRUCTION_SET=x86_64_v3
//   -DTILEWALK_INSTRUCTION_SET=native (other architectures; FMA in the baseline)
// None of these flags changes a bit. Call no std function at run time: the linker keeps one copy for all
// instruction sets, which might be this one's.
#include "engine/walk/cpu/lane_operations.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <utility>

#include "kernels/shocks.h"
#include "kernels/sobol.h"
#include "kernels/tile.h"
#include "products/program/apply.h"

namespace tilewalk::cpu {
namespace {

// Bits 0, 1 and 2 of `mode` say that operand a, b or c is one number for all lanes.
template <class real, program::operation code, int mode>
[[gnu::flatten]] void loop(real* out, const real* a, const real* b, const real* c) {
    constexpr int arity = program::entry_of(code).arity;
    const real a0 = *a;
    const real b0 = arity > 1 ? *b : real(0);
    const real c0 = arity > 2 ? *c : real(0);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const real x = (mode & 1) != 0 ? a0 : a[lane];
        const real y = arity < 2 || (mode & 2) != 0 ? b0 : b[lane];
        const real z = arity < 3 || (mode & 4) != 0 ? c0 : c[lane];
        out[lane] = program::apply<code>(x, y, z);
    }
}

// Three loops: compilers that don't use gathers would run a single one lane by lane (GCC 12: 3.2 ns a lane).
template <class real, int mode>
[[gnu::flatten]] void interpolate(real* out, const real* positions, const double* table, int size) {
    struct neighbours {
        double first, second;
    };
    alignas(64) int places[lanes];
    alignas(64) real on[lanes];
    alignas(64) neighbours found[lanes];
    const real one = *positions;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto place = kernels::find_place(size, mode != 0 ? one : positions[lane]);
        places[lane] = place.i;
        on[lane] = place.on;
    }
    for (int lane = 0; lane < lanes; ++lane)
        __builtin_memcpy(&found[lane], table + places[lane], sizeof(neighbours));
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane)
        out[lane] = kernels::between(real(found[lane].first), real(found[lane].second), on[lane]);
}

template <class real>
void fill(real* out, real number) {
    for (int lane = 0; lane < lanes; ++lane) out[lane] = number;
}

template <class real>
void copy(real* out, const real* from) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) out[lane] = from[lane];
}

template <class real>
double sum(const real* from, int count) {
    alignas(64) double sums[lanes / 2];
    if (count == lanes) {
#pragma omp simd
        for (int i = 0; i < lanes / 2; ++i) sums[i] = double(from[2 * i]) + double(from[2 * i + 1]);
    } else {
        const auto number = [&](int lane) { return lane < count ? double(from[lane]) : 0.0; };
        for (int i = 0; i < lanes / 2; ++i) sums[i] = number(2 * i) + number(2 * i + 1);
    }
    kernels::sum_neighbours(sums, lanes / 2);
    return sums[0];
}

template <class real>
bool any(const real* truths, bool wanted) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int lane = 0; lane < lanes; ++lane) found |= (truths[lane] != real(0)) == wanted ? 1 : 0;
    return found != 0;
}

struct stream_of {
    kernels::word32 kind;
    kernels::stream_key name;
};

#if defined(__AVX2__)

// kernels::path_block on 64-bit words whose lower halves are the 32-bit words. Upper halves may hold
// anything, since the widening multiplication reads lower halves only. Compilers don't find this (GCC 12
// multiplies 64-bit words and shuffles, at less than half the speed).
#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif
using words [[gnu::vector_size(vector_bytes)]] = kernels::word64;
constexpr int words_per_vector = vector_bytes / 8;

words product_of_lower_halves(words a, words b) {
#if defined(__AVX512F__)
    // The zero-masked form, with all lanes selected, avoids GCC 12's warning about its own header.
    return reinterpret_cast<words>(
        _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
    return reinterpret_cast<words>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}

struct vector_block {
    words x0, x1, x2, x3;
};

vector_block philox(words path, std::uint64_t seed, std::uint32_t block, stream_of from) {
    const words zero{};
    words x0 = path;
    words x1 = ((path >> 32) & 3) | (zero + from.name.low);
    words x2 = (path >> 34 << (kernels::block_bits_of_counter + 2)) |
               (zero + (block | kernels::third_word(0, from.kind)));
    words x3 = zero + from.name.high;
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
    return {x0, x1, x2, x3};
}

// Words with the lower half of `low`, and the lower half of `high` as upper half.
words paired(words low, words high) {
    return (low & 0xffffffffu) | (high << 32);
}

template <class word>
void store(word* to, words from) {
    __builtin_memcpy(to, &from, sizeof from);
}

[[gnu::flatten]] void bits(kernels::word64* w0, kernels::word64* w1, std::uint64_t seed,
                           std::uint64_t first_path, std::uint32_t block, stream_of from) {
    words path = words{} + first_path;
    for (int i = 0; i < words_per_vector; ++i) path[i] += static_cast<kernels::word64>(i);
    for (int lane = 0; lane < lanes; lane += words_per_vector) {
        const vector_block b = philox(path, seed, block, from);
        store(w0 + lane, paired(b.x0, b.x1));
        store(w1 + lane, paired(b.x2, b.x3));
        path += words_per_vector;
    }
}

// Even and odd paths are computed in separate vectors, so that their words interleave without a shuffle.
[[gnu::flatten]] void bits(kernels::word32 (&w)[4][lanes], std::uint64_t seed, std::uint64_t first_path,
                           std::uint32_t block, stream_of from) {
    words path = words{} + first_path;
    for (int i = 0; i < words_per_vector; ++i) path[i] += 2 * static_cast<kernels::word64>(i);
    for (int lane = 0; lane < lanes; lane += 2 * words_per_vector) {
        const vector_block even = philox(path, seed, block, from);
        const vector_block odd = philox(path + 1, seed, block, from);
        store(w[0] + lane, paired(even.x0, odd.x0));
        store(w[1] + lane, paired(even.x1, odd.x1));
        store(w[2] + lane, paired(even.x2, odd.x2));
        store(w[3] + lane, paired(even.x3, odd.x3));
        path += 2 * words_per_vector;
    }
}

#else

[[gnu::flatten]] void bits(kernels::word64* w0, kernels::word64* w1, std::uint64_t seed,
                           std::uint64_t first_path, std::uint32_t block, stream_of from) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto b = kernels::path_block(seed, first_path + static_cast<std::uint64_t>(lane), block,
                                           from.kind, from.name);
        w0[lane] = kernels::low_word(b);
        w1[lane] = kernels::high_word(b);
    }
}

[[gnu::flatten]] void bits(kernels::word32 (&w)[4][lanes], std::uint64_t seed, std::uint64_t first_path,
                           std::uint32_t block, stream_of from) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto b = kernels::path_block(seed, first_path + static_cast<std::uint64_t>(lane), block,
                                           from.kind, from.name);
        w[0][lane] = b.x0;
        w[1][lane] = b.x1;
        w[2][lane] = b.x2;
        w[3][lane] = b.x3;
    }
}

#endif

// Looks up 256 lanes in tables of 16 entries, by permutation. Compilers would run this lane by lane; gathers
// took 5 % longer for a normal on an AMD EPYC with AVX2.
template <class table>
void look_up(double* inverse, double* logarithm, const kernels::word64* intervals) {
    static_assert(table::entries == 16);
#if defined(__AVX512F__)
    constexpr int step = 8;
    const auto entries = [](const double* of, __m512i which) {
        return _mm512_permutex2var_pd(_mm512_loadu_pd(of), which, _mm512_loadu_pd(of + step));
    };
    for (int lane = 0; lane < lanes; lane += step) {
        const __m512i which = _mm512_load_si512(intervals + lane);
        _mm512_store_pd(inverse + lane, entries(table::inverse, which));
        _mm512_store_pd(logarithm + lane, entries(table::logarithm, which));
    }
#elif defined(__AVX2__)
    constexpr int step = 4;
    for (int lane = 0; lane < lanes; lane += step) {
        const __m256i which = _mm256_load_si256(reinterpret_cast<const __m256i*>(intervals + lane));
        // An index's two lowest bits select an entry of a vector, here as two 32-bit halves; its upper two
        // bits select one of four vectors.
        const __m256i twice = _mm256_add_epi64(which, which);
        const __m256i halves =
            _mm256_or_si256(twice, _mm256_slli_epi64(_mm256_add_epi64(twice, _mm256_set1_epi64x(1)), 32));
        const __m256d odd = _mm256_castsi256_pd(_mm256_slli_epi64(which, 61));
        const __m256d upper = _mm256_castsi256_pd(_mm256_slli_epi64(which, 60));
        const auto entries = [&](const double* of) {
            const auto in_vector = [&](int k) {
                const __m256 vector = _mm256_castpd_ps(_mm256_loadu_pd(of + k * step));
                return _mm256_castps_pd(_mm256_permutevar8x32_ps(vector, halves));
            };
            return _mm256_blendv_pd(_mm256_blendv_pd(in_vector(0), in_vector(1), odd),
                                    _mm256_blendv_pd(in_vector(2), in_vector(3), odd), upper);
        };
        _mm256_store_pd(inverse + lane, entries(table::inverse));
        _mm256_store_pd(logarithm + lane, entries(table::logarithm));
    }
#else
    for (int lane = 0; lane < lanes; ++lane) {
        const auto row = kernels::row_of<table>(intervals[lane]);
        inverse[lane] = row.inverse;
        logarithm[lane] = row.logarithm;
    }
#endif
}

[[gnu::flatten]] void double_normals(double (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                                     std::uint32_t block, kernels::stream_key name) {
    alignas(64) kernels::word64 w0[lanes];
    alignas(64) kernels::word64 w1[lanes];
    bits(w0, w1, seed, first_path, block, {kernels::normal_stream, name});
    double* first = out[0];
    double* second = out[1];
    alignas(64) kernels::word64 intervals[lanes];
    alignas(64) double inverse[lanes];
    alignas(64) double logarithm[lanes];
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) intervals[lane] = kernels::radius_in_table(w0[lane]).interval;
    look_up<kernels::uniform_log_table>(inverse, logarithm, intervals);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto shocks = kernels::normals_of_bits(w0[lane], w1[lane], {inverse[lane], logarithm[lane]});
        first[lane] = shocks.first;
        second[lane] = shocks.second;
    }
}

[[gnu::flatten]] void double_uniforms(double (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                                      std::uint32_t block, kernels::stream_key name) {
    alignas(64) kernels::word64 w0[lanes];
    alignas(64) kernels::word64 w1[lanes];
    bits(w0, w1, seed, first_path, block, {kernels::uniform_stream, name});
    double* first = out[0];
    double* second = out[1];
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        first[lane] = kernels::uniform_of_bits(w0[lane]);
        second[lane] = kernels::uniform_of_bits(w1[lane]);
    }
}

template <class shock>
[[gnu::flatten]] void pair_of_single_normals(shock* first, shock* second, const kernels::word32* w0,
                                             const kernels::word32* w1) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
        const auto shocks = kernels::normals_of_bits(w0[lane], w1[lane]);
        first[lane] = shock(shocks.cosine);
        second[lane] = shock(shocks.sine);
    }
}

template <class shock>
[[gnu::flatten]] void single_normals(shock (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                                     std::uint32_t block, kernels::stream_key name) {
    alignas(64) kernels::word32 w[4][lanes];
    bits(w, seed, first_path, block, {kernels::normal_stream, name});
    pair_of_single_normals(out[0], out[1], w[0], w[1]);
    pair_of_single_normals(out[2], out[3], w[2], w[3]);
}

template <class shock>
[[gnu::flatten]] void single_uniforms(shock (*out)[lanes], std::uint64_t seed, std::uint64_t first_path,
                                      std::uint32_t block, kernels::stream_key name) {
    alignas(64) kernels::word32 w[4][lanes];
    bits(w, seed, first_path, block, {kernels::uniform_stream, name});
    for (int i = 0; i < 4; ++i) {
        shock* to = out[i];
#pragma omp simd
        for (int lane = 0; lane < lanes; ++lane) to[lane] = shock(kernels::uniform_of_bits(w[i][lane]));
    }
}

template <class shock, int count, class word>
[[gnu::flatten]] void digits_of_points(word* out, const kernels::word32* directions,
                                       const kernels::scramble& by, std::uint32_t first_index) {
    const kernels::word32 first = kernels::point_of(directions, first_index);
    constexpr unsigned bits_of_lane = count == lanes ? 8 : 5;
    static_assert(count == 1 << bits_of_lane && count >= few_points);
    kernels::word32 of_lane[bits_of_lane];
    for (unsigned bit = 0; bit < bits_of_lane; ++bit) of_lane[bit] = directions[bit];
    const kernels::scramble by_words = by;
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
        kernels::word32 x = first;
        for (unsigned bit = 0; bit < bits_of_lane; ++bit)
            x ^= (0 - (static_cast<kernels::word32>(lane) >> bit & 1)) & of_lane[bit];
        out[lane] = kernels::digits_of(x, by_words, shock{});
    }
}

// Table entries are fetched in a loop of their own, which compilers that don't use gathers run lane by lane.
template <int count>
[[gnu::flatten]] void point_normals(double* out, const kernels::word32* directions,
                                    const kernels::scramble& by, std::uint32_t first_index,
                                    const kernels::normal_table<double>& table) {
    alignas(64) kernels::word64 digits[std::size_t{count}];
    digits_of_points<double, count>(digits, directions, by, first_index);
    alignas(64) kernels::word32 rows[std::size_t{count}];
    alignas(64) double t[std::size_t{count}], c0[std::size_t{count}], c1[std::size_t{count}];
    alignas(64) float c2[std::size_t{count}], c3[std::size_t{count}], c4[std::size_t{count}],
        c5[std::size_t{count}];
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
        const auto at = kernels::place_in_normals(digits[lane]);
        rows[lane] = at.row;
        t[lane] = at.t;
    }
    constexpr int table_rows = kernels::normal_table<double>::rows;
    for (int lane = 0; lane < count; ++lane) {
        const double* const low = table.low + rows[lane];
        const float* const high = table.high + rows[lane];
        c0[lane] = low[0];
        c1[lane] = low[table_rows];
        c2[lane] = high[0];
        c3[lane] = high[table_rows];
        c4[lane] = high[2 * table_rows];
        c5[lane] = high[3 * table_rows];
    }
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
        const kernels::normal_place<double> at{0, t[lane], digits[lane] >> 63 != 0};
        out[lane] = kernels::normal_in_table(at, c0[lane], c1[lane], c2[lane], c3[lane], c4[lane], c5[lane]);
    }
}
template <int count>
[[gnu::flatten]] void point_normals(float* out, const kernels::word32* directions,
                                    const kernels::scramble& by, std::uint32_t first_index,
                                    const kernels::normal_table<float>& table) {
    alignas(64) kernels::word32 digits[std::size_t{count}], rows[std::size_t{count}];
    digits_of_points<float, count>(digits, directions, by, first_index);
    alignas(64) float t[std::size_t{count}], c0[std::size_t{count}], c1[std::size_t{count}],
        c2[std::size_t{count}], c3[std::size_t{count}];
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
        const auto at = kernels::place_in_normals(digits[lane]);
        rows[lane] = at.row;
        t[lane] = at.t;
    }
    for (int lane = 0; lane < count; ++lane) {
        const float* const c = table.all + 4 * rows[lane];
        c0[lane] = c[0];
        c1[lane] = c[1];
        c2[lane] = c[2];
        c3[lane] = c[3];
    }
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
        const kernels::normal_place<float> at{0, t[lane], digits[lane] >> 31 != 0};
        out[lane] = kernels::normal_in_table(at, c0[lane], c1[lane], c2[lane], c3[lane]);
    }
}

template <class shock, int count>
[[gnu::flatten]] void point_uniforms(shock* out, const kernels::word32* directions,
                                     const kernels::scramble& by, std::uint32_t first_index,
                                     const kernels::normal_table<shock>&) {
    typename kernels::format<shock>::word digits[std::size_t{count}];
    digits_of_points<shock, count>(digits, directions, by, first_index);
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) out[lane] = kernels::uniform_of_bits(digits[lane]);
}

template <class shock>
[[gnu::flatten]] void place_in_bridge(shock* here, const shock* left, const shock* right,
                                      const kernels::bridge_node& node) {
    const auto by_left = static_cast<shock>(node.by_left), by_right = static_cast<shock>(node.by_right),
               deviation = static_cast<shock>(node.deviation);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane)
        here[lane] = kernels::place_between(by_left, left != nullptr ? left[lane] : shock(0), by_right,
                                            right != nullptr ? right[lane] : shock(0), deviation, here[lane]);
}

template <class shock>
[[gnu::flatten]] void move_in_bridge(shock* out, const shock* before, const shock* here,
                                     double inverse_root) {
    const auto by = static_cast<shock>(inverse_root);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane)
        out[lane] = kernels::move_between(before != nullptr ? before[lane] : shock(0), here[lane], by);
}

template <class shock>
[[gnu::flatten]] void weighted_sum(shock* out, const shock* first, std::size_t apart, const double* weights,
                                   std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto weight = static_cast<shock>(weights[i]);
        const shock* const number = first + i * apart;
#pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            out[lane] = i == 0 ? weight * number[lane] : kernels::fma(weight, number[lane], out[lane]);
    }
}

template <class shock>
consteval lane_points<shock> points() {
    return {&point_normals<lanes>,      &point_uniforms<shock, lanes>,
            &point_normals<few_points>, &point_uniforms<shock, few_points>,
            &place_in_bridge<shock>,    &move_in_bridge<shock>,
            &weighted_sum<shock>};
}

// Null if the operation is no function of single numbers, or if `mode` makes every operand one number.
template <class real, std::size_t index, int mode>
consteval typename lane_functions<real>::loop loop_of() {
    constexpr auto code = static_cast<program::operation>(index);
    if constexpr (!program::is_function(code)) {
        return nullptr;
    } else if constexpr (mode >= (1 << program::entry_of(code).arity) - 1) {
        return nullptr;
    } else {
        return &loop<real, code, mode>;
    }
}

template <class real, std::size_t index>
consteval std::array<typename lane_functions<real>::loop, 8> modes_of() {
    return {loop_of<real, index, 0>(), loop_of<real, index, 1>(), loop_of<real, index, 2>(),
            loop_of<real, index, 3>(), loop_of<real, index, 4>(), loop_of<real, index, 5>(),
            loop_of<real, index, 6>(), loop_of<real, index, 7>()};
}

template <class real, std::size_t... index>
consteval lane_functions<real> functions(std::index_sequence<index...>) {
    return {{modes_of<real, index>()...},
            {&interpolate<real, 0>, &interpolate<real, 1>},
            &fill<real>,
            &copy<real>,
            &sum<real>,
            &any<real>};
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

extern constinit const lane_operations TILEWALK_INSTRUCTION_SET = {
    name_of_this_build(),
    functions<double>(std::make_index_sequence<program::operations.size()>{}),
    functions<float>(std::make_index_sequence<program::operations.size()>{}),
    {&double_normals, &double_uniforms},
    {&single_normals<float>, &single_uniforms<float>},
    {&single_normals<double>, &single_uniforms<double>},
    points<double>(),
    points<float>(),
};

}  // namespace tilewalk::cpu
