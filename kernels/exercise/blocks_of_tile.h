// SPDX-License-Identifier: Apache-2.0
// Splits the paths of a tile into blocks of 256 paths, and a block into lanes.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/exercise/read_paths.h"
#include "kernels/loops.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// Blocks of the paths of a tile on a date: first paths on which using the right pays something, then other
// live paths; for today, all paths. Only the last block of either side may be partly filled.
template <bool is_today>
struct blocks_of_tile {
    const path_in_tile* list;
    word32 first_path;
    int paying, others, first_blocks, blocks;

    template <class date>
    blocks_of_tile(const date& of, word32 tile)
        : list(of.listed + tile * paths_per_tile), first_path(tile * paths_per_tile) {
        paying = is_today ? paths_in_tile(of.paths, tile) : of.count(tile, 0);
        others = is_today ? 0 : of.count(tile, 1);
        first_blocks = (paying + paths_of_block - 1) / paths_of_block;
        blocks = first_blocks + (others + paths_of_block - 1) / paths_of_block;
    }
    struct place {
        int side;
        bool has_path;
        word32 path;
    };
    // The path with number `number_in_block` in the block, or a place without a path.
    place at(int block, int number_in_block) const {
        const int side = block < first_blocks ? 0 : 1;
        const int number = (side == 0 ? block : block - first_blocks) * paths_of_block + number_in_block;
        const bool has_path = block < blocks && number < (side == 0 ? paying : others);
        const int in_list = (side == 0 ? 0 : paying) + number;
        return {side, has_path, first_path + word32(!has_path ? 0 : is_today ? in_list : int(list[in_list]))};
    }
};

// A lane of a block: every sixteenth path, which one thread takes in turn.
template <bool is_today>
struct lane_of_block : blocks_of_tile<is_today> {
    int block, side;

    template <class date>
    lane_of_block(const date& of, word32 tile, int thread)
        : blocks_of_tile<is_today>(of, tile),
          block(thread / lanes_of_sum),
          side(block < this->first_blocks ? 0 : 1) {}
    bool is_there() const { return block < this->blocks; }
    // Calls use(what `load` returns) for each path of the lane; see read_paths.h.
    template <path_reads how, int threads, int numbers, class loader, class body>
    void for_paths(double* ring, const loader& load, const body& use) const {
        constexpr int count = paths_of_block / lanes_of_sum;
        const auto place_of = [&](int k) {
            return this->at(block,
                            (k < count ? k : count - 1) * lanes_of_sum + int(threadIdx.x % lanes_of_sum));
        };
        read_paths<how, threads, numbers>(ring, count, place_of, load,
                                          [&](const auto&, const auto& loaded) { use(loaded); });
    }
    // Sums over the block's lanes by the tree; the first lane stores sum i at parts[block * pitch + i].
    template <int count>
    void leave(const double (&sums)[word32(count)], double* parts, int pitch) const {
        const word32 lanes = 0xffffu << (threadIdx.x % 32 / 16 * 16);
        unrolled<count>([&](int i) {
            double sum = sums[i];
            unrolled<4>([&](int level) { sum += __shfl_xor_sync(lanes, sum, lanes_of_sum / 2 >> level); });
            if (threadIdx.x % lanes_of_sum == 0) parts[block * pitch + i] = sum;
        });
    }
};
static double sum_of_blocks(const double* parts, int pitch, int first, int last) {
    double sum = 0;
    for (int b = first; b < last; ++b) sum += parts[b * pitch];
    return sum;
}

}  // namespace tilewalk::kernels
