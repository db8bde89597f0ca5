// SPDX-License-Identifier: Apache-2.0
// What the kernels around a generator of normals that carries a state are told.
#pragma once

#include "kernels/tile_result.h"

namespace tilewalk::kernels::studies {

static constexpr int normals_threads = 256;  // of a block
// Of a state at most, in memory.
static constexpr word32 state_bytes = 64;

struct fill_job {
    void* to;
    word64 pieces;  // of 16 bytes
    void* states;   // of all threads, for a generator that keeps them
    word64 seed;
};

// An Asian call on the average over equal steps; a step's log return is drift + volatility * normal.
struct asian_job {
    double spot, strike, drift, volatility, discount;
    word32 steps;  // whole pieces of normals
    word32 blocks;
    word64 seed;
    tile_result* results;  // by block
};

}  // namespace tilewalk::kernels::studies
