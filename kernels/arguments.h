// SPDX-License-Identifier: Apache-2.0
// What a launch of a path kernel is told, laid out alike on both sides.
#pragma once

#include "kernels/philox.h"
#include "kernels/tile_result.h"

namespace tilewalk::kernels {

// One trade. At `numbers_at` of the numbers stand its terms, its initial states, then the rows of each
// section, a row with its columns and then its tables; each of these begins at a multiple of piece_bytes, and
// so does a row that has as many bytes (see row_pitch). At `words_at` of the words stands for each section
// the place of its first row (counted from numbers_at), then at mask_place for each step a mask, and one word
// more: bit k says that section k runs after the step, on its next row. Then for each step, if the program
// has scenario slots, the row of each slot in the array of scenarios. A trade's words come in whole pieces.
struct trade_record {
    word64 numbers_at;
    word64 words_at;
    word32 steps;
    word32 result;  // its first row of the results: a row for each output, then for each sum of two
};

// What one load brings at most.
static constexpr word32 piece_bytes = 16;

static constexpr word32 whole_pieces(word32 count, word32 bytes_of_one) {
    const word32 per_piece = piece_bytes / bytes_of_one;
    return (count + per_piece - 1) / per_piece * per_piece;
}
// From one row of a section to the next, in numbers: a row is one, two or whole pieces of numbers.
static constexpr word32 row_pitch(word32 width, word32 bytes_of_one) {
    return width <= 2 ? width : whole_pieces(width, bytes_of_one);
}
static constexpr word32 mask_place(word32 sections) {
    return whole_pieces(sections, sizeof(word32));
}

// Shocks in memory, from path `first_path` on; strides in elements.
struct array_argument {
    const void* first;
    word64 step_stride;
    word64 slot_stride;
    word64 texture;
};

// Block b walks tile first_tile + b / (trades of the launch) % tiles, or, with tiles first, the other way
// round.
struct path_arguments {
    const trade_record* trades;
    const void* numbers;
    const word32* words;
    tile_result* results;  // [result of the trade][tile - first_tile], rows `tiles` apart
    // For a reduction that merges tiles, [result of the trade][part]: where they end, and a count that starts
    // at 0.
    tile_result* merged;
    word32* finished;
    double* payoffs;  // [result of the trade][tile - first_tile][path], for a reduction that stores them
    word64 numbers_texture;
    word64 seed;
    philox_schedule keys;  // of the seed
    word64 paths;
    word64 first_tile;
    word32 trade_count;
    word32 tiles;
    word32 trades_first;  // 1: neighbouring blocks walk the same tile of different trades
    word64 first_path;    // of the arrays
    array_argument normal;
    array_argument uniform;
    array_argument scenario;  // a step_stride from row to row
    word32 part_tiles;        // of the launch, from its first on, that are merged together
};

// Tiles are merged in parts of equal size, of which the last may be shorter.
static constexpr word32 parts_of(word32 tiles, word32 part_tiles) {
    return (tiles - 1) / part_tiles + 1;
}

// One block a part of a trade.
struct merge_arguments {
    tile_result* tiles;   // [trade][tile], used up
    tile_result* merged;  // [trade][part]
    word32 tiles_per_trade;
    word32 part_tiles;
};

}  // namespace tilewalk::kernels
