// SPDX-License-Identifier: Apache-2.0
// The tile: the unit of work, of summation, of files of finished work and of distribution. Its shape is part
// of the contract: the order of summation follows from it, and so do the last bits of every result.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

static constexpr int lanes_per_tile = 256;
// Four passes of 256 lanes. Fewer make a European take 1.2 to 1.5 times as long; more gain at most 4 %, and
// spread a short run less evenly over cores (bench/results/2026-11-21-AMD-EPYC-paths-per-lane.txt). A million
// paths make 1024 tiles, about as many as 132 multiprocessors hold at once as blocks of 256 threads.
static constexpr int paths_per_lane = 4;
static constexpr int paths_per_tile = lanes_per_tile * paths_per_lane;

// The number of the path of `lane` in pass `j` of a tile. A pass has 256 consecutive paths.
static constexpr word64 path_of(word64 tile, int j, int lane) {
    return tile * paths_per_tile + word64(j * lanes_per_tile + lane);
}

// The number of tiles for `paths` paths; all but the last are full.
static constexpr word64 tiles_of(word64 paths) {
    return (paths + (paths_per_tile - 1)) / paths_per_tile;
}

static constexpr int paths_in_tile(word64 paths, word64 tile) {
    const word64 left = paths - tile * paths_per_tile;
    return left < word64(paths_per_tile) ? int(left) : paths_per_tile;
}

// Puts the sum of s[0] to s[count - 1] into s[0]; `count` is a power of two. Neighbours are added first, so a
// thread may begin with the sum of its own 1, 2 or 4 neighbouring lanes: all give the same bits.
template <typename real>
static constexpr void sum_neighbours(real* s, int count) {
    for (int half = count / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) s[i] = s[2 * i] + s[2 * i + 1];
    }
}

}  // namespace tilewalk::kernels
