// SPDX-License-Identifier: Apache-2.0
// Rotates slots of a cube's steps to principal components. A warp works on 32 neighbouring paths of one step.
#pragma once

#include "kernels/fill_kernel.h"
#include "kernels/point_arguments.h"
#include "kernels/weighted_sums.h"

namespace tilewalk::kernels {

// `shared` has rotation_bytes<shock>() for the block's warps.
template <class shock>
static void rotate_points(const rotation_arguments& a, char* shared) {
    const word32 warps = blockDim.x / paths_of_warp, warp = threadIdx.x / paths_of_warp,
                 lane = threadIdx.x % paths_of_warp, across = word32(a.into.paths / paths_of_warp);
    // A thread reads only what it has itself written here, so no barrier is needed.
    shock* const own = reinterpret_cast<shock*>(shared) + word64(warp) * a.rotated * paths_of_warp + lane;
    for (word32 group = blockIdx.x * warps + warp; group < a.groups; group += a.blocks * warps) {
        const word64 first_row = word64(group / across) * a.slot_count,
                     at = word64(group % across) * paths_of_warp + lane;
        const auto place = [&](word32 j) { return place_of<shock>(a.into, first_row + a.slots[j], at); };
        for (word32 j = 0; j < a.rotated; ++j) own[j * paths_of_warp] = *place(j);
        const auto number = [&](word32 j) { return neighbours<shock, 1>{{own[j * paths_of_warp]}}; };
        for (word32 first = 0; first < a.rotated; first += rows_at_once)
            sum_rows<shock, 1>(a.rotation, a.rotated, first, number,
                               [&](word32 row, const neighbours<shock, 1>& sum) { *place(row) = sum.x[0]; });
    }
}

}  // namespace tilewalk::kernels
