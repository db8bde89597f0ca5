// SPDX-License-Identifier: Apache-2.0
// The sum over a block. Kernels of benchmarks sum the numbers they read, so that no read is dropped.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::studies {

// The threads of a block in every kernel that sums.
static constexpr int block_threads = 256;

// The sum, in thread 0, always in the same order. Call it once a launch.
template <class value>
static value block_sum(value mine) {
    __shared__ value warps[block_threads / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(~0u, mine, lanes);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    value sum = warps[0];
    for (int w = 1; w < block_threads / 32; ++w) sum += warps[w];
    return sum;
}

}  // namespace tilewalk::kernels::studies
