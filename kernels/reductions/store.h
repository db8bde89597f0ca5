// SPDX-License-Identifier: Apache-2.0
// The reduction `store`: writes the tile's payoffs to device memory, 8 bytes a path and trade, and sums
// nothing. CUB reduces them when all tiles are there (kernels/reduce_stored.h).
#pragma once

#include "kernels/reductions/reduction.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct store {
    static constexpr word32 shared_bytes() { return 0; }

    static void finish(const double* payoffs, int count, const tile_site& site, char*) {
        double* to = site.payoffs + word64(site.tile_of_launch) * paths_per_tile;
        for (int path = int(threadIdx.x); path < count; path += threads) to[path] = payoffs[path];
    }
};

}  // namespace tilewalk::kernels::reductions
