// SPDX-License-Identifier: Apache-2.0
// Hand-written kernels for a stateful generator of normals: one fills a cube with normals, one prices an
// arithmetic Asian that draws them in registers. A generator has
//     using real = ...;   float or double
//     using state = ...;
//     static constexpr bool keeps_state;  // starting it in every launch would cost too much
//     static state started(word64 seed, word64 sequence);
//     static neighbours<real, 16 bytes of them> next(state&);
//     static real exp(real);
#pragma once

#include "kernels/feeds/feed.h"
#include "kernels/reductions/reduction.h"
#include "kernels/studies/normals_job.h"

namespace tilewalk::kernels::studies {

template <class generator>
using piece_of = neighbours<typename generator::real, 16 / int(sizeof(typename generator::real))>;

template <class generator>
static typename generator::state* state_of_thread(const fill_job& a) {
    static_assert(sizeof(typename generator::state) <= state_bytes);
    return static_cast<typename generator::state*>(a.states) +
           (word64(blockIdx.x) * normals_threads + threadIdx.x);
}

template <class generator>
static void set_up_states(const fill_job& a) {
    *state_of_thread<generator>(a) =
        generator::started(a.seed, word64(blockIdx.x) * normals_threads + threadIdx.x);
}

// Fills a cube; threads of a warp store neighbouring pieces. A kept state goes on from the last launch.
template <class generator, class stores>
static void fill_with_normals(const fill_job& a) {
    const word64 threads = word64(gridDim.x) * normals_threads;
    const word64 first = word64(blockIdx.x) * normals_threads + threadIdx.x;
    typename generator::state state;
    if constexpr (generator::keeps_state) {
        state = *state_of_thread<generator>(a);
    } else {
        state = generator::started(a.seed, first);
    }
    constexpr word64 width = 16 / sizeof(typename generator::real);
    for (word64 i = first; i < a.pieces; i += threads)
        stores::store(static_cast<typename generator::real*>(a.to) + i * width, generator::next(state));
    if constexpr (generator::keeps_state) *state_of_thread<generator>(a) = state;
}

template <class generator>
static double asian_payoff(const asian_job& a, word64 path) {
    using real = typename generator::real;
    const real drift = real(a.drift), volatility = real(a.volatility);
    auto state = generator::started(a.seed, path);
    real x = 0, total = 0;
    constexpr word32 width = 16 / sizeof(real);
    for (word32 step = 0; step < a.steps; step += width) {
        const piece_of<generator> z = generator::next(state);
        for (word32 k = 0; k < width; ++k) total += generator::exp(x += drift + volatility * z.x[k]);
    }
    const real average = total * real(a.spot / a.steps), gain = average - real(a.strike);
    return a.discount * double(gain < 0 ? real(0) : gain);  // nan stays nan
}

// One path for each thread. The reduction takes the block for a tile that is not full.
template <class generator, class reduction>
static void walk_asian(const asian_job& a, char* shared) {
    double* payoffs = reinterpret_cast<double*>(shared);
    payoffs[threadIdx.x] = asian_payoff<generator>(a, word64(blockIdx.x) * normals_threads + threadIdx.x);
    __syncthreads();
    reduction::finish(payoffs, normals_threads,
                      {blockIdx.x, blockIdx.x, a.blocks, a.blocks, a.results, nullptr, nullptr, nullptr},
                      shared + paths_per_tile * sizeof(double));
}

}  // namespace tilewalk::kernels::studies
