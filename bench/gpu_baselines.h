// SPDX-License-Identifier: Apache-2.0
// Terms of the trades that the hand-written kernels price, and the storing of a kernel's payoffs.
#pragma once

#include <cuda_runtime.h>

namespace tilewalk::bench {

constexpr int steps_in_all = 252;

// A year of daily fixings of one asset. A step's log return is drift + volatility * normal.
struct asian_terms {
    double spot, drift, volatility, strike, discount;
};

struct block_sums {
    double sum, squares;
};

#ifdef __CUDACC__
static __device__ void hand_in(double payoff, block_sums* out) {
    __shared__ block_sums of_warp[32];
    block_sums mine{payoff, payoff * payoff};
    for (unsigned half = 16; half > 0; half /= 2) {
        mine.sum += __shfl_xor_sync(~0u, mine.sum, half);
        mine.squares += __shfl_xor_sync(~0u, mine.squares, half);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    block_sums all{0, 0};
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
        all.sum += of_warp[w].sum;
        all.squares += of_warp[w].squares;
    }
    out[blockIdx.x] = all;
}
#endif

// Prices the same Asian with cuRAND's device API and the CUDA library's exp.
void curand_asian_single(const asian_terms& terms, unsigned long long seed, unsigned blocks, unsigned threads,
                         block_sums* out);
void curand_asian_double(const asian_terms& terms, unsigned long long seed, unsigned blocks, unsigned threads,
                         block_sums* out);

}  // namespace tilewalk::bench
