// SPDX-License-Identifier: Apache-2.0
// Constants of the regressions of exercise policies, shared by CPU and GPU: order of sums, limits of a fit.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// Paths of a block, which are summed together; a partly filled block is padded with 0.
static constexpr int paths_of_block = 256;
// Sixteen lanes make a block's sum: each adds every 16th path, then a tree adds the upper half to the lower.
static constexpr int lanes_of_sum = 16;
// A column of a block has a lane's paths side by side, and a free slot between lanes against bank conflicts.
static constexpr int slots_of_lane = paths_of_block / lanes_of_sum + 1;
static constexpr int slots_of_column = lanes_of_sum * slots_of_lane + 4;
static constexpr int slot_of(int path) {
    return path % lanes_of_sum * slots_of_lane + path / lanes_of_sum;
}
// Lanes of a warp that make the inner product of two vectors.
static constexpr int lanes_of_inner = 32;

// Sums of products of columns are made for squares of 8 x 8 pairs of columns; if `lower`, for each pair once.
static constexpr int side_of_square = 8, numbers_of_square = side_of_square * side_of_square;
static constexpr int squares_of(int rows, int cols, bool lower) {
    const int tall = (rows + side_of_square - 1) / side_of_square,
              wide = (cols + side_of_square - 1) / side_of_square;
    return lower ? tall * (tall + 1) / 2 : tall * wide;
}

// A function is dropped if earlier ones leave less than this part of its squared length unexplained.
static constexpr double least_pivot = 1e-10;
// Least paths for each function, against fitting noise. Functions of slopes explain less and need more.
static constexpr word64 paths_of_function = 8, paths_of_slope = 32;
static constexpr int most_rank(word64 paths, word64 of_function) {
    return paths < of_function ? 1 : int(paths / of_function < 1000 ? paths / of_function : 1000);
}
// Means and scales of features come from the first tiles if this many paths live there, else from all tiles.
static constexpr word64 tiles_of_scales = 16, least_paths_of_scales = 256;
static constexpr int steps_to_slopes = 4;

// The Hermite polynomial of a standard normal u, scaled to variance 1. `one` is 1 as a `number`.
template <class number>
static constexpr number hermite(int order, const number& u, const number& one) {
    if (order == 1) return u;
    if (order == 2) return (u * u - one) * 0.7071067811865476;
    if (order == 3) return (u * u - one * 3.0) * u * 0.4082482904638631;
    return ((u * u - one * 6.0) * (u * u) + one * 3.0) * 0.2041241452319315;
}

}  // namespace tilewalk::kernels
