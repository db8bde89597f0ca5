// SPDX-License-Identifier: Apache-2.0
// Kernels that sum tanh of floats: one with loads, one through a ring of asynchronous copies. Their template
// argument says how a piece is read, and so which qualifier of the L2 cache is studied.
#pragma once

#include "kernels/loops.h"
#include "kernels/studies/block_sum.h"
#include "kernels/studies/content.h"

namespace tilewalk::kernels::studies {

// The hardware's tanh, relative error up to 2^-11; its time is hidden by the latency of memory.
static float quick_tanh(float x) {
    float y = 0;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static void fill_with_singles(float* to, word64 count) {
    const word64 i = word64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) to[i] = single_content(i);
}

// A thread reads `loads` pieces of `words` floats, all requested first; lanes read neighbouring pieces.
template <class reader, int words, int loads>
static void sum_of_tanh(const char* from, float* sums) {
    const word64 first = word64(blockIdx.x) * block_threads * loads + threadIdx.x;
    word32 x[loads][words];
    for (int k = 0; k < loads; ++k)
        reader::read(x[k], from + (first + word64(k) * block_threads) * (4 * words));
    float sum = 0;
    for (int k = 0; k < loads; ++k) {
        for (int w = 0; w < words; ++w) sum += quick_tanh(from_bits(x[k][w]));
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// A thread reads `pieces` pieces through a ring of `stages` slots of its own; it waits for no other.
template <class copier, int words, int pieces, int stages>
static void sum_of_tanh_through_ring(const char* from, float* sums) {
    alignas(16) __shared__ word32 ring[stages][block_threads][words];
    from += (word64(blockIdx.x) * block_threads * pieces + threadIdx.x) * (4 * words);
    const auto start = [&](int k) {
        if (k < pieces) {
            copier::copy(word32(__cvta_generic_to_shared(ring[k % stages][threadIdx.x])),
                         from + word64(k) * (block_threads * 4 * words));
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int k = 0; k < stages; ++k) start(k);
    float sum = 0;
    unrolled_by<stages>(0, pieces, [&](int k) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
        for (int w = 0; w < words; ++w) sum += quick_tanh(from_bits(ring[k % stages][threadIdx.x][w]));
        start(k + stages);
    });
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace tilewalk::kernels::studies
