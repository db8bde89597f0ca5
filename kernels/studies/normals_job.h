// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels for a stateful generator of normals.
#pragma once

#include "kernels/tile_result.h"

namespace tilewalk::kernels::studies {

static constexpr int normals_threads = 256;  // per block
static constexpr word32 state_bytes = 64;

struct fill_job {
    void* to;
    word64 pieces;  // pieces of 16 bytes
    void* states;   // for all threads, if the generator keeps them
    word64 seed;
};

// An Asian call on the average over equal steps; a step's log return is drift + volatility * normal.
struct asian_job {
    double spot, strike, drift, volatility, discount;
    word32 steps;  // a multiple of the normals in a piece
    word32 blocks;
    word64 seed;
    tile_result* results;  // by block
};

}  // namespace tilewalk::kernels::studies
