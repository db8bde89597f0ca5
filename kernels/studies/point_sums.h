// SPDX-License-Identifier: Apache-2.0
// Sums of the points of each path, made where they are summed, or read from the rows of a cube that was
// filled with them. Nothing else is done with points, so the difference of the two is the most that a trade
// can gain whose points stay in registers.
#pragma once

#include "kernels/point_fill.h"
#include "kernels/studies/point_sums_job.h"

namespace tilewalk::kernels::studies {

template <class shocks>
static void add(shocks& sum, const shocks& x) {
    unrolled<int(sizeof(x.x) / sizeof(x.x[0]))>([&](int w) { sum.x[w] += x.x[w]; });
}

// Warps make points together as they do for a cube: a thread by itself needs more operations.
template <class draws>
static void sum_made(const point_sums_job& j, char* shared) {
    using making = shocks_of_warp<draws, shock_kind::normal, paths_of_points<typename draws::shock>>;
    using shocks = typename making::shocks;
    const points_arguments& a = j.points;
    making made(a, shared);
    made.begin();
    const word32 warps = sums_threads / paths_of_warp;
    for (word32 group = blockIdx.x * warps + threadIdx.x / paths_of_warp; group < a.groups;
         group += a.blocks * warps) {
        made.turn_to(group);
        shocks sum{};
        for (word32 first = 0; first < a.steps; first += paths_of_warp) {
            const word32 end = a.steps - first < paths_of_warp ? a.steps : first + paths_of_warp;
            const auto dimensions = made.dimensions_of(first, end, [](word32 i) { return i; });
            for (word32 step = first; step < end; ++step) add(sum, made.make(dimensions, step - first, step));
        }
        *reinterpret_cast<shocks*>(static_cast<typename draws::shock*>(j.sums) + made.at()) = sum;
    }
}

template <class shock>
static void sum_read(const point_sums_job& j) {
    constexpr int width = paths_of_points<shock>;
    using shocks = neighbours<shock, width>;
    const cube_argument& from = j.points.into;
    const word64 path = (word64(blockIdx.x) * sums_threads + threadIdx.x) * width;
    if (path >= from.paths) return;
    shocks sum{};
    for (word32 step = 0; step < j.points.steps; ++step)
        add(sum, *reinterpret_cast<const shocks*>(place_of<const shock>(from, step, path)));
    *reinterpret_cast<shocks*>(static_cast<shock*>(j.sums) + path) = sum;
}

}  // namespace tilewalk::kernels::studies
