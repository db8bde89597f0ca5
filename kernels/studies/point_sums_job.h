// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that take each path along its points.
#pragma once

#include "kernels/exponential.h"
#include "kernels/point_arguments.h"
#include "kernels/tile.h"

namespace tilewalk::kernels::studies {

// As many threads in a block as fill a cube with points, and as walk a tile.
static constexpr int sums_threads = warps_of_points(false) * paths_of_warp;
static constexpr int sums_threads_of_tile = 256;

// Paths for which a block has rows in shared memory at once.
template <class shock>
static constexpr word32 sums_paths_at_once = sums_threads_of_tile* paths_of_points<shock>;
template <class shock>
static constexpr word64 sums_bytes_of_tile(word64 steps) {
    return kept_normals<shock>::bytes + steps * sums_paths_at_once<shock> * sizeof(shock);
}

// Volatility of a step.
static constexpr double sums_deviation = 0.0625;

template <class shock>
static constexpr void take_step(shock& place, shock& sum, shock normal) {
    place = fma(shock(sums_deviation), normal, place);
    sum += exp(place);
}

struct point_sums_job {
    // Steps of one slot, each a node of its own, and a cube for them.
    points_arguments points;
    void* sums;  // by path
};

}  // namespace tilewalk::kernels::studies
