// SPDX-License-Identifier: Apache-2.0
// Merges the sums of the kernel of both ways: from warps to parts (some consecutive tiles) of a trade.
#pragma once

#include "kernels/derivative_sums.h"
#include "kernels/path_kernel.h"
#include "kernels/way_back/arguments.h"

namespace tilewalk::kernels {

// The sum of numbers[i * pitch] for i < count, a multiple of eight, in the tree that adds neighbours first.
static inline double tree_sum(const double* numbers, word64 pitch, word32 count) {
    // complete[k] is the sum of 2^k groups if bit k of `there` is set; constant k keeps it in registers.
    constexpr int group = 8, levels = 29;
    double complete[levels]{};
    word32 there = 0;
    for (word32 i = 0; i < count; i += group) {
        double of[group];
        unrolled<group>([&](int k) { of[k] = numbers[word64(i + word32(k)) * pitch]; });
        sum_neighbours(of, group);
        bool is_placed = false;
        unrolled<levels>([&](int k) {
            if (is_placed) return;
            if ((there >> k & 1) != 0) {
                of[0] = complete[k] + of[0];
            } else {
                complete[k] = of[0];
                is_placed = true;
            }
        });
        ++there;
    }
    double sum = 0;
    bool is_first = true;
    unrolled<levels>([&](int k) {
        if ((there >> k & 1) == 0) return;
        sum = is_first ? complete[k] : complete[k] + sum;
        is_first = false;
    });
    return sum;
}

static inline void merge_derivatives_of_part(const derivative_merge_arguments& a) {
    // Blocks are numbered by places of a part, then parts, then trades.
    const word32 parts = parts_of(a.tiles, a.part_tiles);
    const word32 blocks_of_part = word32((a.most_places + blockDim.x - 1) / blockDim.x);
    const word32 number = number_of_block() / blocks_of_part;
    const derivatives_of_trade of = a.derivatives[number / parts];
    const word32 part = number % parts, first = part * a.part_tiles;
    const word64 place = word64(number_of_block() % blocks_of_part) * blockDim.x + threadIdx.x;
    if (place >= of.places) return;
    const word32 tiles = first + a.part_tiles < a.tiles ? a.part_tiles : a.tiles - first;
    const double* const sums = a.sums + of.first * a.tiles * a.warps;
    double* const merged = a.merged + of.first * parts;
    // A tile has 2^n warps, so this tree is that over tiles. Adding 0 turns -0 into 0.
    merged[part * of.places + place] =
        tree_sum(sums + word64(first) * a.warps * of.places + place, of.places, tiles * a.warps) + 0.0;
}

}  // namespace tilewalk::kernels
