// SPDX-License-Identifier: Apache-2.0
// Sums over the dates of a path that goes by points, as an Asian option adds up. The points are made in the
// registers of the thread that takes them, or in shared memory of its block, or are read from the rows of a
// cube that was filled with them.
#pragma once

#include "kernels/point_fill.h"
#include "kernels/studies/point_sums_job.h"

namespace tilewalk::kernels::studies {

// A thread's paths.
template <class shock, int width>
struct summed_paths {
    using shocks = neighbours<shock, width>;
    shocks place{}, sum{};
    void step(const shocks& x) {
        unrolled<width>([&](int w) { take_step(place.x[w], sum.x[w], x.x[w]); });
    }
    void leave(void* sums, word64 path) const {
        *reinterpret_cast<shocks*>(static_cast<shock*>(sums) + path) = sum;
    }
};
template <class shock>
using paths_of_thread = summed_paths<shock, paths_of_points<shock>>;

// Warps make points together as they do for a cube: a thread by itself needs more operations.
template <class draws>
static void sum_made(const point_sums_job& j, char* shared) {
    using shock = typename draws::shock;
    using making = shocks_of_warp<draws, shock_kind::normal, paths_of_points<shock>>;
    const points_arguments& a = j.points;
    making made(a, shared);
    made.begin();
    const word32 warps = sums_threads / paths_of_warp;
    for (word32 group = blockIdx.x * warps + threadIdx.x / paths_of_warp; group < a.groups;
         group += a.blocks * warps) {
        made.turn_to(group);
        paths_of_thread<shock> own;
        for (word32 first = 0; first < a.steps; first += paths_of_warp) {
            const word32 end = a.steps - first < paths_of_warp ? a.steps : first + paths_of_warp;
            const auto dimensions = made.dimensions_of(first, end, [](word32 i) { return i; });
            for (word32 step = first; step < end; ++step) own.step(made.make(dimensions, step - first, step));
        }
        own.leave(j.sums, made.at());
    }
}

template <class shock>
static void sum_rows_of(const cube_argument& from, word32 steps, word64 in_row, void* sums, word64 path) {
    paths_of_thread<shock> own;
    for (word32 step = 0; step < steps; ++step)
        own.step(*reinterpret_cast<const typename paths_of_thread<shock>::shocks*>(
            place_of<const shock>(from, step, in_row)));
    own.leave(sums, path);
}

template <class shock>
static void sum_read(const point_sums_job& j) {
    const word64 path = (word64(blockIdx.x) * sums_threads + threadIdx.x) * paths_of_points<shock>;
    if (path < j.points.into.paths) sum_rows_of<shock>(j.points.into, j.points.steps, path, j.sums, path);
}

// A block takes a tile of paths, as a path kernel does.
template <class draws>
static void sum_shared(const point_sums_job& j, char* shared) {
    using shock = typename draws::shock;
    constexpr word32 paths = sums_paths_at_once<shock>;
    points_arguments here = j.points;
    here.into = {shared + kept_normals<shock>::bytes, paths, j.points.steps, paths};
    here.groups = paths / (paths_of_warp * paths_of_points<shock>);
    fill_of_points<draws, shock_kind::normal, false> points(here, shared);
    points.begin();
    for (word32 pass = 0; pass < word32(paths_per_tile) / paths; ++pass) {
        here.first_path = word64(blockIdx.x) * paths_per_tile + pass * paths;
        points.fill(0, 1);
        __syncthreads();
        const word64 in_row = threadIdx.x * paths_of_points<shock>;
        sum_rows_of<shock>(here.into, here.steps, in_row, j.sums, here.first_path + in_row);
        __syncthreads();
    }
}

}  // namespace tilewalk::kernels::studies
