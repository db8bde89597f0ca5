// SPDX-License-Identifier: Apache-2.0
// The reduction `last_block`: `tree` within a tile; then the block that finishes the last tile of a part
// (some tiles of a trade) merges the part's tiles in the fixed tree. Same bits as `tree`, without a merging
// kernel.
#pragma once

#include "kernels/merge_tree.h"
#include "kernels/reductions/tree.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct last_block {
    static constexpr word32 shared_bytes() { return tree<threads>::shared_bytes(); }

    static void finish(const double* payoffs, int count, const tile_site& site, char* shared) {
        tree<threads>::finish(payoffs, count, site, shared);
        word32* is_last = reinterpret_cast<word32*>(shared);
        const word32 part = site.tile_of_launch / site.part_tiles, first = part * site.part_tiles;
        const word32 left = site.tiles - first, tiles = left < site.part_tiles ? left : site.part_tiles;
        if (threadIdx.x == 0) {
            // The first fence makes this tile's result visible before it is counted. The second makes the
            // results of all tiles counted so far visible to this block.
            __threadfence();
            *is_last = atomicAdd(site.finished + part, 1u) + 1 == tiles;
            __threadfence();
        }
        __syncthreads();
        if (*is_last == 0) return;
        merge_in_block<threads>(site.results + first, tiles);
        if (threadIdx.x == 0) site.merged[part] = site.results[first];
    }
};

}  // namespace tilewalk::kernels::reductions
