// SPDX-License-Identifier: Apache-2.0
// The kernel that merges tiles, on the host for fake GPUs: a block merges a part of a trade's tiles in order.
#pragma once

#include <algorithm>

#include "engine/walk/cuda/device/device.h"
#include "kernels/arguments.h"
#include "kernels/moments.h"

namespace tilewalk {

inline void merge_as_a_gpu(const cuda::launch& how, const kernels::merge_arguments& a) {
    const kernels::word32 parts = kernels::parts_of(a.tiles_per_trade, a.part_tiles);
    for (kernels::word32 block = 0; block < how.blocks; ++block) {
        const kernels::word32 first = block % parts * a.part_tiles;
        const kernels::tile_result* tiles = a.tiles + kernels::word64{block / parts} * a.tiles_per_trade;
        a.merged[block] = tiles[first];
        for (kernels::word32 t = first + 1; t < std::min(first + a.part_tiles, a.tiles_per_trade); ++t)
            a.merged[block] = kernels::merge(a.merged[block], tiles[t]);
    }
}

}  // namespace tilewalk
