// SPDX-License-Identifier: Apache-2.0
// Kernels of the benchmark `memory`, which sum the numbers they read, so that no read is optimised away.
#pragma once

#include "kernels/loops.h"
#include "kernels/ptx.h"
#include "kernels/studies/block_sum.h"
#include "kernels/studies/memory_job.h"

namespace tilewalk::kernels::studies {

static void fill_with_content(word32* to, word64 count) {
    const word64 i = word64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) to[i] = content(i);
}
static void fill_with_chase(word32* to, word64 nodes) {
    const word32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nodes) to[word64(i) * line_words] = next_node(i, word32(nodes)) * line_words;
}

static void hand_in(const memory_job& j, word32 sum) {
    sum = block_sum(sum);
    if (threadIdx.x == 0) j.sums[blockIdx.x] = sum;
}

template <int words>
static word32 sum_of(const neighbours<word32, words>& x) {
    word32 sum = 0;
    for (int w = 0; w < words; ++w) sum += x.x[w];
    return sum;
}

template <class space, int words_>
struct addressed {
    static constexpr int words = words_;
    using piece = neighbours<word32, words>;
    static piece read(const memory_job& j, word64 at) {
        return space::template load<piece>(static_cast<const word32*>(j.from) + at * words);
    }
};
template <int words>
using global = addressed<spaces::global, words>;
template <int words>
using read_only = addressed<spaces::read_only, words>;

struct texels {
    static constexpr int words = 2;
    using piece = neighbours<word32, words>;
    static piece read(const memory_job& j, word64 at) {
        const uint2 t = tex1Dfetch<uint2>(j.texture, int(at));
        return {{t.x, t.y}};
    }
};

// Loads that a thread has under way at a time.
static constexpr int batch = 8;

// Sums the pieces at place(k) for k < reads, which must be a multiple of `batch`.
template <class source, class places>
static void sum_pieces(const memory_job& j, const places& place) {
    word32 sum = 0;
    for (word32 k = 0; k < j.reads; k += batch) {
        typename source::piece x[batch];
        unrolled<batch>([&](int i) { x[i] = source::read(j, place(k + word32(i))); });
        unrolled<batch>([&](int i) { sum += sum_of(x[i]); });
    }
    hand_in(j, sum);
}

// The place of a thread's k-th piece; each block has a stretch of its own, in which threads are adjacent.
static word64 side_by_side(const memory_job& j, word32 k) {
    return (word64(blockIdx.x) * j.reads + k) * block_threads + threadIdx.x;
}

// Reads the first `count` pieces again and again; `count` is a power of two.
template <class source>
static void sum_again(const memory_job& j) {
    sum_pieces<source>(j, [&](word32 k) { return side_by_side(j, k) & (j.count - 1); });
}

template <class source>
static void sum_strided(const memory_job& j) {
    sum_pieces<source>(j, [&](word32 k) { return side_by_side(j, k) * j.stride + j.offset; });
}

template <class source>
static void sum_patches(const memory_job& j) {
    sum_pieces<source>(j, [&](word32 k) { return patch_place(side_by_side(j, k), j.width); });
}

template <class source>
static void sum_table(const memory_job& j) {
    sum_pieces<source>(j, [&](word32 k) { return word64(table_place(threadIdx.x % 32, k, j.addresses)); });
}

// One thread follows a chain of places: each load waits for the one before.
template <class source>
static void chase(const memory_job& j) {
    word32 at = 0;
    unrolled_by<8>(0, int(j.reads), [&](int) { at = source::read(j, at / source::words).x[0]; });
    j.sums[0] = at;
}

static void chase_in_shared(const memory_job& j) {
    __shared__ word32 table[shared_words];
    for (word32 i = 0; i < shared_words; ++i) table[i] = next_node(i, shared_words);
    word32 at = 0;
    unrolled_by<8>(0, int(j.reads), [&](int) { at = table[at]; });
    j.sums[0] = at;
}

static void sum_shared(const memory_job& j) {
    __shared__ word32 table[shared_words];
    for (word32 i = threadIdx.x; i < shared_words; i += block_threads) table[i] = content(i);
    __syncthreads();
    const word32 begin = word32(__cvta_generic_to_shared(table));
    word32 sum = 0;
    for (word32 n = 0; n < j.reads; n += 16) {
        const word32 at = begin + 4 * shared_place(threadIdx.x % 32, n, word32(j.stride));
        unrolled<16>([&](int i) {
            word32 x = 0;
            // Volatile, since every second round reads the same places.
            asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at + word32(i) * 128));
            sum += x;
        });
    }
    hand_in(j, sum);
}

// Sums an array of the thread's own. An index known only at run time keeps it in local memory.
static void sum_local(const memory_job& j) {
    const word64 mine = word64(blockIdx.x) * block_threads + threadIdx.x;
    word32 a[array_words];
    unrolled<int(array_words)>([&](int i) { a[i] = content(mine * array_words + word64(i)); });
    word32 sum = 0;
    unrolled_by<8>(0, int(j.reads), [&](int n) { sum += a[array_place(word32(n), word32(j.stride))]; });
    hand_in(j, sum);
}
static void sum_array_in_shared(const memory_job& j) {
    __shared__ word32 a[array_words][block_threads];
    const word64 mine = word64(blockIdx.x) * block_threads + threadIdx.x;
    unrolled<int(array_words)>([&](int i) { a[i][threadIdx.x] = content(mine * array_words + word64(i)); });
    word32 sum = 0;
    unrolled_by<8>(0, int(j.reads),
                   [&](int n) { sum += a[array_place(word32(n), word32(j.stride))][threadIdx.x]; });
    hand_in(j, sum);
}

struct record {
    word32 x, y, z;
};
// Layouts of an array of records, which sum_records() reads to sum x + 3 y + 5 z.
struct packed_records {  // 12 bytes apart
    static record read(const memory_job& j, word64 at) {
        const word32* x = static_cast<const word32*>(j.from) + 3 * at;
        return {x[0], x[1], x[2]};
    }
};
struct padded_records {  // 16 bytes apart, and read by one load
    static record read(const memory_job& j, word64 at) {
        uint4 x{};
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "l"(static_cast<const uint4*>(j.from) + at));
        return {x.x, x.y, x.z};
    }
};
struct arrays_of_fields {  // `count` apart
    static record read(const memory_job& j, word64 at) {
        const word32* x = static_cast<const word32*>(j.from) + at;
        return {x[0], x[j.count], x[2 * j.count]};
    }
};
template <class records>
static void sum_records(const memory_job& j) {
    word32 sum = 0;
    for (word32 k = 0; k < j.reads; k += batch / 2) {
        record x[batch / 2];
        unrolled<batch / 2>([&](int i) { x[i] = records::read(j, side_by_side(j, k + word32(i))); });
        unrolled<batch / 2>([&](int i) { sum += x[i].x + 3 * x[i].y + 5 * x[i].z; });
    }
    hand_in(j, sum);
}

// Reads `count` rows of `width` words, which are `stride` words apart; each row by one warp.
static void sum_rows(const memory_job& j) {
    const word64 row = (word64(blockIdx.x) * block_threads + threadIdx.x) / 32;
    word32 sum = 0;
    if (row < j.count) {
        const word32* from = static_cast<const word32*>(j.from) + row * j.stride;
        for (word32 i = threadIdx.x % 32; i < j.width; i += 32 * batch) {
            word32 x[batch];
            unrolled<batch>(
                [&](int b) { x[b] = i + word32(b) * 32 < j.width ? from[i + word32(b) * 32] : 0; });
            unrolled<batch>([&](int b) { sum += x[b]; });
        }
    }
    hand_in(j, sum);
}

// Copies pieces to shared memory; each thread then sums pieces that a thread of another warp has copied.
template <int words, bool is_async>
static void sum_through_shared(const memory_job& j) {
    using piece = neighbours<word32, words>;
    alignas(16) __shared__ char slots[pieces_to_shared * block_threads * sizeof(piece)];
    const thread_memory<spaces::global> memory{slots, int(threadIdx.x)};
    const auto slot = [](int p, word32 thread) {
        return (word32(p) * block_threads + thread) * word32(sizeof(piece));
    };
    word32 sum = 0;
    rolled(0, rounds_to_shared, [&](int round) {
        const word32* from =
            static_cast<const word32*>(j.from) +
            ((word64(blockIdx.x) * rounds_to_shared + word64(round)) * (pieces_to_shared * block_threads) +
             threadIdx.x) *
                words;
        if constexpr (is_async) {
            unrolled<pieces_to_shared>([&](int p) {
                memory.template copy_async<piece, 0, false>(slot(p, threadIdx.x),
                                                            from + p * block_threads * words);
            });
            memory.commit_copies();
            memory.template wait_for_copies<0>();
        } else {
            piece x[pieces_to_shared];
            unrolled<pieces_to_shared>(
                [&](int p) { x[p] = spaces::global::load<piece>(from + p * block_threads * words); });
            unrolled<pieces_to_shared>(
                [&](int p) { memory.template write<piece>(slot(p, threadIdx.x), x[p]); });
        }
        __syncthreads();
        unrolled<pieces_to_shared>(
            [&](int p) { sum += sum_of(memory.template read<piece>(slot(p, threadIdx.x ^ 32))); });
        __syncthreads();
    });
    hand_in(j, sum);
}

// Reads `from` once, in pieces of 16 bytes, and with every few of them the next of `count` pieces of `kept`.
static void sum_kept(const memory_job& j) {
    using piece = neighbours<word32, 4>;
    const word64 first = word64(blockIdx.x) * j.reads * block_threads + threadIdx.x;
    const piece* kept = static_cast<const piece*>(j.kept);
    word32 at = word32(first % j.count), sum = 0;
    unrolled_by<4>(0, int(j.reads), [&](int k) {
        const word64 row = (word64(blockIdx.x) * j.reads + word64(k)) * streamed_of_kept;
        sum += sum_of(spaces::global::load<piece>(reinterpret_cast<const word32*>(kept + at)));
        at += block_threads;
        if (at >= j.count) at -= word32(j.count);
        unrolled<streamed_of_kept>([&](int s) {
            sum += sum_of(spaces::global::load<piece>(static_cast<const word32*>(j.from) +
                                                      ((row + word64(s)) * block_threads + threadIdx.x) * 4));
        });
    });
    hand_in(j, sum);
}

}  // namespace tilewalk::kernels::studies
