// SPDX-License-Identifier: Apache-2.0
// A kernel that only reduces tiles, of payoffs in memory, for benchmarks of reductions.
#pragma once

#include "kernels/arguments.h"
#include "kernels/reductions/reduction.h"

namespace tilewalk::kernels::studies {

// One block for each tile of one trade. `shared` holds the payoffs of a tile, then the reduction's memory.
template <class reduction>
static void reduce(const path_arguments& a, char* shared) {
    double* payoffs = reinterpret_cast<double*>(shared);
    const word64 tile = blockIdx.x;
    const int count = paths_in_tile(a.paths, tile);
    for (int path = int(threadIdx.x); path < count; path += int(blockDim.x)) {
        payoffs[path] = a.payoffs[tile * paths_per_tile + word64(path)];
    }
    __syncthreads();
    reduction::finish(payoffs, count,
                      {tile, word32(tile), a.tiles, a.part_tiles, a.results, a.merged, a.finished, nullptr},
                      shared + paths_per_tile * sizeof(double));
}

}  // namespace tilewalk::kernels::studies
