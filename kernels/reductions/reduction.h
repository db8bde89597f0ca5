// SPDX-License-Identifier: Apache-2.0
// Parts that all reductions of a tile share. A reduction is a class with the functions
//     static constexpr word32 shared_bytes();
//     static void finish(const double* payoffs, int count, const tile_site& site, char* shared);
// which all threads of a block call. `payoffs` are the tile's, by path, and must be written before a barrier.
// `shared` is the feed's memory, which the feed no longer uses.
#pragma once

#include "kernels/tile_result.h"

namespace tilewalk::kernels {

struct tile_site {
    word64 tile;            // of the run
    word32 tile_of_launch;  // its place among the trade's results
    word32 tiles;           // tiles of the trade in this launch
    word32 part_tiles;      // tiles that a reduction merges at a time, if it merges tiles
    tile_result* results;   // the trade's, by tile of the launch
    tile_result* merged;    // the trade's, by part; for a reduction that merges tiles
    word32* finished;       // counts the finished tiles of the part; likewise
    double* payoffs;        // the trade's, by tile of the launch and path; for a reduction that stores them

    tile_result& result() const { return results[tile_of_launch]; }
};

namespace reductions {

// The sum over `count` neighbouring lanes, in the order of sum_neighbours().
template <int count, class lane_value>
static double lane_tree(const lane_value& of, int first = 0) {
    if constexpr (count == 1) {
        return of(first);
    } else {
        return lane_tree<count / 2>(of, first) + lane_tree<count / 2>(of, first + count / 2);
    }
}

// If payoffs are not finite, stores their number and the first such path, and returns true.
template <int threads>
static bool report_bad(const double* payoffs, int count, const tile_site& site, char* shared) {
    int bad = 0;
    int first_bad = paths_per_tile;
    for (int path = int(threadIdx.x); path < count; path += threads) {
        if ((to_bits(payoffs[path]) >> 52 & 0x7ff) != 0x7ff) continue;
        if (bad++ == 0) first_bad = path;
    }
    if (__syncthreads_or(bad) == 0) return false;
    int* scratch = reinterpret_cast<int*>(shared);
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
        site.result() = {
            {0, 0, 0, 0, 0}, word64(scratch[0]), site.tile * paths_per_tile + word64(scratch[1])};
    }
    return true;
}

// The moments of a tile, as tile_moments() makes them, by many threads. block::sum<values>(sums, scratch)
// replaces a thread's first `values` sums by the block's; its order of summation decides the bits.
template <int threads, class block>
static void reduce_tile(const double* payoffs, int count, const tile_site& site, char* shared) {
    if (report_bad<threads>(payoffs, count, site, shared)) return;
    double* scratch = reinterpret_cast<double*>(shared);
    constexpr int lanes = lanes_per_tile / threads;
    const int first = int(threadIdx.x) * lanes;
    double sums[3] = {};
    sums[0] = lane_tree<lanes>([&](int i) { return lane_sum(payoffs + first + i, first + i, count); });
    block::template sum<1>(sums, scratch);
    const double guess = sums[0] / count;
    sums[0] =
        lane_tree<lanes>([&](int i) { return lane_deviation(payoffs + first + i, first + i, count, guess); });
    block::template sum<1>(sums, scratch);
    const double mean = guess + sums[0] / count;
    double a[word32(lanes)], b[word32(lanes)], c[word32(lanes)];
    for (int i = 0; i < lanes; ++i) {
        const auto s = lane_central_sums(payoffs + first + i, first + i, count, mean);
        a[i] = s.m2;
        b[i] = s.m3;
        c[i] = s.m4;
    }
    sums[0] = lane_tree<lanes>([&](int i) { return a[i]; });
    sums[1] = lane_tree<lanes>([&](int i) { return b[i]; });
    sums[2] = lane_tree<lanes>([&](int i) { return c[i]; });
    block::template sum<3>(sums, scratch);
    if (threadIdx.x == 0) site.result() = {{double(count), mean, sums[0], sums[1], sums[2]}, 0, ~word64{0}};
}

template <int values>
static void sum_warp(double (&sums)[3]) {
    for (int v = 0; v < values; ++v) {
        for (int half = 1; half < 32; half *= 2) sums[v] += __shfl_xor_sync(~0u, sums[v], half);
    }
}

// Sums over the threads that contribute, by atomics, so in any order; every thread gets the sums.
template <int values>
static void sum_by_atomics(double (&sums)[3], bool contributes, double* scratch) {
    if (threadIdx.x < values) scratch[threadIdx.x] = 0;
    __syncthreads();
    if (contributes) {
        for (int v = 0; v < values; ++v) atomicAdd(scratch + v, sums[v]);
    }
    __syncthreads();
    for (int v = 0; v < values; ++v) sums[v] = scratch[v];
    __syncthreads();
}

}  // namespace reductions

}  // namespace tilewalk::kernels
