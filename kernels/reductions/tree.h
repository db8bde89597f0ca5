// SPDX-License-Identifier: Apache-2.0
// The reduction that every result stands on: lane sums, then one fixed tree of neighbours, in a warp by
// exchange and between warps through shared memory. It is tile_moments of kernels/moments.h, by many threads.
#pragma once

#include "kernels/tile_result.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct tree {
    // Of the feed's memory, which is free by then.
    static constexpr word32 shared_bytes() { return 64 * sizeof(double); }

    // payoffs: the tile's, by path; written by all threads of the block before a barrier.
    static void finish(const double* payoffs, int count, word64 tile, tile_result* result, char* shared) {
        double* scratch = reinterpret_cast<double*>(shared);
        constexpr int lanes = lanes_per_tile / threads;
        const int first = int(threadIdx.x) * lanes;

        int bad = 0;
        int first_bad = paths_per_tile;
        for (int path = int(threadIdx.x); path < count; path += threads) {
            if ((to_bits(payoffs[path]) >> 52 & 0x7ff) != 0x7ff) continue;
            if (bad++ == 0) first_bad = path;
        }
        if (__syncthreads_or(bad) != 0) {
            report_bad(bad, first_bad, tile, result, reinterpret_cast<int*>(shared));
            return;
        }
        double sums[3] = {};
        sums[0] = lane_tree<lanes>([&](int i) { return lane_sum(payoffs + first + i, first + i, count); });
        sum_block<1>(sums, scratch);
        const double guess = sums[0] / count;
        sums[0] = lane_tree<lanes>(
            [&](int i) { return lane_deviation(payoffs + first + i, first + i, count, guess); });
        sum_block<1>(sums, scratch);
        const double mean = guess + sums[0] / count;
        double a[lanes], b[lanes], c[lanes];
        for (int i = 0; i < lanes; ++i) {
            const auto s = lane_central_sums(payoffs + first + i, first + i, count, mean);
            a[i] = s.m2;
            b[i] = s.m3;
            c[i] = s.m4;
        }
        sums[0] = lane_tree<lanes>([&](int i) { return a[i]; });
        sums[1] = lane_tree<lanes>([&](int i) { return b[i]; });
        sums[2] = lane_tree<lanes>([&](int i) { return c[i]; });
        sum_block<3>(sums, scratch);
        if (threadIdx.x == 0) *result = {{double(count), mean, sums[0], sums[1], sums[2]}, 0, ~word64{0}};
    }

  private:
    // The sum over a thread's neighbouring lanes, by the tree of sum_neighbours.
    template <int count, class lane_value>
    static double lane_tree(const lane_value& of, int first = 0) {
        if constexpr (count == 1) {
            return of(first);
        } else {
            return lane_tree<count / 2>(of, first) + lane_tree<count / 2>(of, first + count / 2);
        }
    }

    // The sum over the block's threads, the same tree further up; every thread gets it.
    template <int values>
    static void sum_block(double (&sums)[3], double* scratch) {
        constexpr int warps = threads / 32;
        const int warp = int(threadIdx.x) / 32;
        for (int v = 0; v < values; ++v) {
            for (int half = 1; half < 32; half *= 2) sums[v] += __shfl_xor_sync(~0u, sums[v], half);
        }
        if (threadIdx.x % 32 == 0) {
            for (int v = 0; v < values; ++v) scratch[v * warps + warp] = sums[v];
        }
        __syncthreads();
        for (int v = 0; v < values; ++v) {
            sums[v] = lane_tree<warps>([&](int i) { return scratch[v * warps + i]; });
        }
        __syncthreads();
    }

    static void report_bad(int bad, int first_bad, word64 tile, tile_result* result, int* scratch) {
        if (threadIdx.x == 0) {
            scratch[0] = 0;
            scratch[1] = paths_per_tile;
        }
        __syncthreads();
        if (bad != 0) {
            atomicAdd(scratch, bad);
            atomicMin(scratch + 1, first_bad);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            *result = {{0, 0, 0, 0, 0}, word64(scratch[0]), tile * paths_per_tile + word64(scratch[1])};
        }
    }
};

}  // namespace tilewalk::kernels::reductions
