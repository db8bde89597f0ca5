// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that sum the points of each path.
#pragma once

#include "kernels/point_arguments.h"

namespace tilewalk::kernels::studies {

// As many threads in a block as fill a cube with points.
static constexpr int sums_threads = warps_of_points(false) * paths_of_warp;

struct point_sums_job {
    // Steps of one slot, each a node of its own, and a cube for them.
    points_arguments points;
    void* sums;  // by path
};

}  // namespace tilewalk::kernels::studies
