// SPDX-License-Identifier: Apache-2.0
// Arguments of the path kernels and of the kernel that merges tiles, with the same layout on host and device.
#pragma once

#include "kernels/philox.h"
#include "kernels/tile_result.h"

namespace tilewalk::kernels {

// The data of one trade of a launch.
// Its numbers begin at `numbers_at`: terms, initial states, then the rows of each section. A row holds
// columns, then tables. A section that runs on every step adds its numbers to the step's rows. Each of these
// parts begins at a multiple of piece_bytes, and so does a row of piece_bytes or more (see row_pitch).
// Its words begin at `words_at`, each kind padded to whole pieces: keys of its random streams (see
// words_of_keys); for each section, the place of its first row, counted from numbers_at; from scenario_place
// on, for each step and scenario slot, a row in the array of scenarios; from event_place on, its events. An
// event is a step that other sections follow, in two words: the step's number, and a mask whose bit k says
// that section k runs after the step, on its next row. A program with more sections than a mask has bits has
// a listed_event for each run of a section instead, in order. A step numbered no_step ends the events.
struct trade_record {
    word64 numbers_at;
    word64 words_at;
    word32 steps;
    word32 result;       // its first row of the results: a row for each output, then for each sum of two
    word32 normal_row;   // the first of its shocks in the array of normals, or of the points that are made
    word32 uniform_row;  // the first of its shocks in the array of uniforms
    word32 target_step;  // the first of its steps to targets, which are in the array of normals
};

// A piece: the most bytes that one load of a thread moves.
static constexpr word32 piece_bytes = 16;
// The most pieces that a thread loads ahead for a group of steps. A group may reach beyond the last row.
static constexpr int most_pieces_held = 2;

static constexpr word32 whole_pieces(word32 count, word32 bytes_of_one) {
    const word32 per_piece = piece_bytes / bytes_of_one;
    return (count + per_piece - 1) / per_piece * per_piece;
}
// The distance between rows of a section, in numbers. Rows of more than two are padded to whole pieces.
static constexpr word32 row_pitch(word32 width, word32 bytes_of_one) {
    return width <= 2 ? width : whole_pieces(width, bytes_of_one);
}
static constexpr word32 scenario_place(word32 sections) {
    return whole_pieces(sections, sizeof(word32));
}
static constexpr word32 event_place(word32 sections, word32 scenarios) {
    return scenario_place(sections) + whole_pieces(scenarios, sizeof(word32));
}
static constexpr word32 no_step = ~word32{0};

static constexpr int most_sections_of_masks = 32;
// Section `section` runs after step `step`, on its row number `row`, which lies at numbers_at + `place`.
struct listed_event {
    word32 step, section, row, place;
};

// A coordinate of a point, from which a path computes a shock: its dimension, and the key that scrambles it.
struct alignas(16) made_point {
    stream_key factor;
    word32 dimension, unused;
};
// Number of entries (made_point) of a trade whose paths compute points: by step and slot, then unused ones.
static constexpr int points_of_trade = 32;

// Shocks in memory, from path `first_path` on. Strides are in elements; rows are slot_stride apart.
struct array_argument {
    const void* first;
    word64 step_stride;
    word64 slot_stride;
    word64 texture;
};

// A launch of a path kernel: a block for each tile of each trade. Block b walks tile first_tile + b % tiles
// of trade b / tiles or, with trades_first, tile first_tile + b / trade_count of trade b % trade_count.
struct path_arguments {
    const trade_record* trades;
    const void* numbers;
    const word32* words;
    tile_result* results;  // [result of the trade][tile - first_tile], rows `tiles` apart
    // For a reduction that merges tiles, [result of the trade][part]: merged results, and counts of finished
    // tiles, which begin at 0.
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
    word64 first_path;    // where the arrays begin
    array_argument normal;
    array_argument uniform;
    array_argument scenario;  // step_stride is the distance between rows
    // For trades whose paths move towards targets, by step: a step_to_target<shock>, and the target's number.
    const void* steps_to_targets;
    const word32* targets_ahead;
    // For trades whose paths compute points: their coordinates, and tables as in points_arguments.
    const made_point* made_points;
    const word32* directions;
    const void* normals_of_points;
    word64 paths_of_randomisation;
    word32 part_tiles;  // tiles merged into one part, from the launch's first tile on
};

static constexpr word32 parts_of(word32 tiles, word32 part_tiles) {
    return (tiles - 1) / part_tiles + 1;
}

struct merge_arguments {
    tile_result* tiles;   // [trade][tile], used up by merging
    tile_result* merged;  // [trade][part]
    word32 tiles_per_trade;
    word32 part_tiles;
};

}  // namespace tilewalk::kernels
