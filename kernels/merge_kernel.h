// SPDX-License-Identifier: Apache-2.0
// Merges the tiles of each trade in the one fixed tree of merge_tiles: neighbours first, an odd last one is
// carried up.
#pragma once

#include "kernels/arguments.h"

namespace tilewalk::kernels {

// One block of any size a trade.
static void merge_tiles_of_trade(const merge_arguments& a) {
    tile_result* m = a.tiles + word64(blockIdx.x) * a.tiles_per_trade;
    word32 count = a.tiles_per_trade;
    while (count > 1) {
        const word32 next = (count + 1) / 2;
        // What a round of threads writes lies before all that later rounds read; within a round, everyone
        // reads before anyone writes.
        for (word32 first = 0; first < next; first += blockDim.x) {
            const word32 i = first + threadIdx.x;
            tile_result r{};
            if (i < next) r = 2 * i + 1 < count ? merge(m[2 * i], m[2 * i + 1]) : m[2 * i];
            __syncthreads();
            if (i < next) m[i] = r;
            __syncthreads();
        }
        count = next;
    }
    if (threadIdx.x == 0) a.merged[blockIdx.x] = m[0];
}

}  // namespace tilewalk::kernels
