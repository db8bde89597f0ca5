// SPDX-License-Identifier: Apache-2.0
// Merges the tiles of each trade, one block a trade.
#pragma once

#include "kernels/arguments.h"
#include "kernels/merge_tree.h"

namespace tilewalk::kernels {

template <int threads>
static void merge_tiles_of_trade(const merge_arguments& a) {
    tile_result* m = a.tiles + word64(blockIdx.x) * a.tiles_per_trade;
    merge_in_block<threads>(m, a.tiles_per_trade);
    if (threadIdx.x == 0) a.merged[blockIdx.x] = m[0];
}

}  // namespace tilewalk::kernels
