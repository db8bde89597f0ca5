// SPDX-License-Identifier: Apache-2.0
// The reduction `warp_atomic`: warps sum by shuffles, then one thread of each adds to the block's sums by
// atomics in shared memory. Their order changes the last bits from run to run.
#pragma once

#include "kernels/reductions/reduction.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct warp_atomic {
    static constexpr word32 shared_bytes() { return 3 * sizeof(double); }

    static void finish(const double* payoffs, int count, const tile_site& site, char* shared) {
        reduce_tile<threads, warp_atomic>(payoffs, count, site, shared);
    }

    template <int values>
    static void sum(double (&sums)[3], double* scratch) {
        sum_warp<values>(sums);
        sum_by_atomics<values>(sums, threadIdx.x % 32 == 0, scratch);
    }
};

}  // namespace tilewalk::kernels::reductions
