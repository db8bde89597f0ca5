// SPDX-License-Identifier: Apache-2.0
// The reduction `tree`, on which every result is based: lane sums, then one fixed tree of neighbours, by
// shuffles within a warp and through shared memory between warps.
#pragma once

#include "kernels/reductions/reduction.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct tree {
    static constexpr word32 shared_bytes() { return 3 * warps * sizeof(double); }

    static void finish(const double* payoffs, int count, const tile_site& site, char* shared) {
        reduce_tile<threads, tree>(payoffs, count, site, shared);
    }

    template <int values>
    static void sum(double (&sums)[3], double* scratch) {
        const int warp = int(threadIdx.x) / 32;
        sum_warp<values>(sums);
        if (threadIdx.x % 32 == 0) {
            for (int v = 0; v < values; ++v) scratch[v * warps + warp] = sums[v];
        }
        __syncthreads();
        for (int v = 0; v < values; ++v) {
            sums[v] = lane_tree<warps>([&](int i) { return scratch[v * warps + i]; });
        }
        __syncthreads();
    }

  private:
    static constexpr int warps = threads / 32;
};

}  // namespace tilewalk::kernels::reductions
