// SPDX-License-Identifier: Apache-2.0
// The sum over a block's threads. Benchmark kernels sum what they read, so that no read is optimised away.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::studies {

static constexpr int block_threads = 256;

// Returns the sum in thread 0, always added in the same order. May be called once in a launch.
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
