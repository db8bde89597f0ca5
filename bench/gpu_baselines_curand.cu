// SPDX-License-Identifier: Apache-2.0
// The Asian as one would write it today without Tilewalk: cuRAND's Philox in registers and the CUDA library's
// exp, built with contraction and --use_fast_math, which makes these kernels fastest.
#include <curand_kernel.h>

#include "bench/gpu_baselines.h"

namespace tilewalk::bench {

namespace {

__global__ void asian_single(asian_terms terms, unsigned long long seed, block_sums* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    const float drift = float(terms.drift), volatility = float(terms.volatility);
    float x = 0, total = 0;
    for (int step = 0; step < steps_in_all; step += 4) {
        const float4 z = curand_normal4(&state);
        total += expf(x += drift + volatility * z.x);
        total += expf(x += drift + volatility * z.y);
        total += expf(x += drift + volatility * z.z);
        total += expf(x += drift + volatility * z.w);
    }
    const float average = total * float(terms.spot / steps_in_all);
    hand_in(terms.discount * fmaxf(average - float(terms.strike), 0.0f), out);
}

__global__ void asian_double(asian_terms terms, unsigned long long seed, block_sums* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    double x = 0, total = 0;
    for (int step = 0; step < steps_in_all; step += 2) {
        const double2 z = curand_normal2_double(&state);
        total += exp(x += terms.drift + terms.volatility * z.x);
        total += exp(x += terms.drift + terms.volatility * z.y);
    }
    const double average = total * (terms.spot / steps_in_all);
    hand_in(terms.discount * fmax(average - terms.strike, 0.0), out);
}

}  // namespace

void curand_asian_single(const asian_terms& terms, unsigned long long seed, unsigned blocks, unsigned threads,
                         block_sums* out) {
    asian_single<<<blocks, threads>>>(terms, seed, out);
}

void curand_asian_double(const asian_terms& terms, unsigned long long seed, unsigned blocks, unsigned threads,
                         block_sums* out) {
    asian_double<<<blocks, threads>>>(terms, seed, out);
}

}  // namespace tilewalk::bench
