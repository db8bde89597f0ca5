// SPDX-License-Identifier: Apache-2.0
// The kernels that find exercise policies from the numbers that paths have left. Only right-hand sides of a
// regression depend on later dates. So kernels over all dates at once list paths, find scales and factor all
// least squares; one kernel walks back and solves with the factors; kernels over all dates then find slopes
// of the martingale. A block works on a tile, or adds up a date's tiles in order: no bit depends on the
// number of blocks. All bits equal those of engine/decide/exercise/backward.cpp, which explains the method.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/exercise/backward_walk.h"
#include "kernels/exercise/date_of_tiles.h"
#include "kernels/exercise/lanes_of_tile.h"
#include "kernels/exercise/tile_of_date.h"
#include "kernels/loops.h"
#include "kernels/resident_blocks.h"

namespace tilewalk::kernels {

// Sums the gain of the policy of all dates over that of every second date, on the same paths; then the
// squares of the gain about its mean. One block for each trade.
static void find_gain(const backward_arguments& a, double* found_end, double* shared) {
    const backward_sweep &all = a.sweeps[blockIdx.x], &others = a.sweeps[a.trade_count + blockIdx.x];
    const backward_trade& t = a.trades[blockIdx.x];
    constexpr int blocks_of_tile = paths_per_tile / paths_of_block;
    const int threads = int(blockDim.x), thread = int(threadIdx.x), lane = thread % lanes_of_sum;
    const word32 lanes = 0xffffu << (threadIdx.x % 32 / 16 * 16);
    double *const sums = t.sums, *const of_tiles =
                                     sums + word64(a.tiles) * blocks_of_tile;  // [tile][block], [tile]
    const int blocks = int((t.paths + paths_of_block - 1) / paths_of_block);
    double mean = 0;
    for (int turn = 0; turn < 2; ++turn) {
        for (int b = thread / lanes_of_sum; b < blocks; b += threads / lanes_of_sum) {
            double sum = 0;
            unrolled_by<8>(0, paths_of_block / lanes_of_sum, [&](int k) {
                const word32 path = word32(b * paths_of_block + k * lanes_of_sum + lane);
                const double x = path < t.paths ? all.total[path] - others.total[path] - mean : 0;
                sum = turn == 0 ? sum + x : fma(x, x, sum);
            });
            unrolled<4>([&](int level) { sum += __shfl_xor_sync(lanes, sum, lanes_of_sum / 2 >> level); });
            if (lane == 0) sums[b] = sum;
        }
        __syncthreads();
        for (int tile = thread; tile < int(a.tiles); tile += threads) {
            double sum = 0;
            for (int b = tile * blocks_of_tile; b < (tile + 1) * blocks_of_tile && b < blocks; ++b)
                sum += sums[b];
            of_tiles[tile] = sum;
        }
        __syncthreads();
        if (thread == 0) {
            double sum = 0;
#pragma unroll 16
            for (word32 tile = 0; tile < a.tiles; ++tile) sum += of_tiles[tile];
            found_end[turn] = shared[0] = sum;
        }
        __syncthreads();
        mean = shared[0] / double(t.paths);
        __syncthreads();
    }
}

template <class basis>
struct policy_search {
    using tile = tile_of_date<basis>;
    using walk = backward_walk<basis>;
    using fits = typename choose_type<walk::sizes.has_few_fits(), lanes_of_tile<basis>, tile>::type;
    using slopes = typename choose_type<walk::sizes.has_few_slopes(), lanes_of_tile<basis>, tile>::type;
    using date = date_of_tiles<basis>;

    // A launch has blocks for the most dates and fits of any trade. Blocks without a date or fit do nothing.
    static void list_paths(const backward_arguments& a, double* shared) {
        by_tile<tile>(a, shared, [](const tile& of) { of.list_paths(); });
    }
    template <bool of_squares>
    static void sum_features(const backward_arguments& a, double* shared) {
        by_tile<tile>(a, shared, [](const tile& of) { of.template sum_features<of_squares>(); });
    }
    static void sum_functions(const backward_arguments& a, double* shared) {
        by_tile<fits>(a, shared, [](const fits& of) { of.sum_functions(); });
    }
    static void make_factors(const backward_arguments& a, double* shared) {
        if (hand::has_date(a, blockIdx.x, true)) date(hand::of_date(a, blockIdx.x), shared).make_factors();
    }
    static void sweep(const backward_arguments& a, double* shared) {
        static_assert(sizeof(walk) <= walk::own_doubles * sizeof(double));
        walk& of_block = *reinterpret_cast<walk*>(shared);
        if (threadIdx.x == 0) of_block.open(a, shared);
        __syncthreads();
        of_block.walk();
    }
    static void gain(const backward_arguments& a, double* shared) {
        const backward_trade& t = a.trades[blockIdx.x];
        const hand today(t, t.date_count, 0, a.tiles);
        find_gain(a, today.found_today(int(today.fits)) + 1, shared);
    }
    template <bool of_image>
    static void sum_moves(const backward_arguments& a, double* shared) {
        const word32 number = blockIdx.x / a.tiles;
        if (hand::has_fit(a, number))
            slopes(a, shared, hand::of_fit(a, number)).template sum_moves<of_image>();
    }
    template <bool of_image>
    static void step(const backward_arguments& a, double* shared) {
        if (hand::has_fit(a, blockIdx.x)) date(hand::of_fit(a, blockIdx.x), shared).template step<of_image>();
    }

  private:
    using hand = date_at_hand<basis>;
    template <class blocks, class body>
    static void by_tile(const backward_arguments& a, double* shared, const body& of) {
        const word32 number = blockIdx.x / a.tiles;
        if (hand::has_date(a, number, false)) of(blocks(a, shared, hand::of_date(a, number)));
    }
};

}  // namespace tilewalk::kernels
