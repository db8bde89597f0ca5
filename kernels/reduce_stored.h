// SPDX-License-Identifier: Apache-2.0
// Reduces payoffs that path kernels have stored (kernels/reductions/store.h) to the results of tiles, by CUB.
// Only reduce_stored.cu includes CUB, which takes ten seconds to compile.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/tile_result.h"

namespace tilewalk::kernels {

struct stored_payoffs {
    const double* payoffs;  // [trade][tile - first_tile][path of the tile]
    tile_result* results;   // [trade][tile - first_tile]
    word64 trades, tiles;
    word64 first_tile, paths;  // of the run

    constexpr word64 count() const { return trades * tiles; }  // number of results
    constexpr word64 begin_of(word64 i) const { return i * paths_per_tile; }
    constexpr word64 end_of(word64 i) const {
        return begin_of(i) + word64(paths_in_tile(paths, first_tile + i % tiles));
    }
    // The result of the one path whose payoff is payoffs[place].
    constexpr tile_result at(word64 place) const {
        const double x = payoffs[place];
        if ((to_bits(x) >> 52 & 0x7ff) != 0x7ff) return {{1, x, 0, 0, 0}, 0, ~word64{0}};
        const word64 tile = first_tile + place / paths_per_tile % tiles;
        return {{0, 0, 0, 0, 0}, 1, tile * paths_per_tile + place % paths_per_tile};
    }
};

// True if this build can reduce stored payoffs: it then has kernels that nvcc compiled; NVRTC is not enough.
bool can_reduce_stored();

// Merges the stored payoffs of each tile to its result, on the current device. If `scratch` is null, only
// sets scratch_bytes, as CUB's functions do. Returns a cudaError_t.
int reduce_stored(const stored_payoffs& what, void* scratch, word64& scratch_bytes, void* stream);

}  // namespace tilewalk::kernels
