// SPDX-License-Identifier: Apache-2.0
// The kernel that merges the tiles of each part of a trade, one block per part.
#pragma once

#include "kernels/arguments.h"
#include "kernels/merge_tree.h"

namespace tilewalk::kernels {

template <int threads>
static void merge_tiles_of_trade(const merge_arguments& a) {
    const word32 parts = parts_of(a.tiles_per_trade, a.part_tiles);
    const word32 first = blockIdx.x % parts * a.part_tiles, left = a.tiles_per_trade - first;
    tile_result* m = a.tiles + word64(blockIdx.x / parts) * a.tiles_per_trade + first;
    merge_in_block<threads>(m, left < a.part_tiles ? left : a.part_tiles);
    if (threadIdx.x == 0) a.merged[blockIdx.x] = m[0];
}

}  // namespace tilewalk::kernels
