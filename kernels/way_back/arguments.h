// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernel that walks paths forward and back (adjoint), and of the one that merges its sums.
#pragma once

#include "kernels/arguments.h"

namespace tilewalk::kernels {

static constexpr int threads_of_warp = 32;

// The place of a trade's derivatives in an array that holds those of all trades of a launch, one by one.
struct derivatives_of_trade {
    word64 first;  // as many places have the trades before it
    word64 places;
    word64 first_places_at;  // among the words that say, by section, the place of its first run
};

struct way_back_arguments {
    path_arguments forth;
    const trade_record* back;  // by trade: its way back, whose numbers are behind `back_numbers`
    const void* back_numbers;
    const word32* back_words;
    const derivatives_of_trade* derivatives;  // by trade
    const word32* first_places;
    // [block][number of a path][path of the pass]: the carried states at the start of each piece; then,
    // without room in shared memory, those before each step of one piece.
    void* kept;
    // [block][step][slot][path of the pass], of all steps; of one piece's steps, if shocks are drawn again.
    void* shocks;
    double* sums;                    // trade after trade, [tile of the launch][warp of the tile][place]
    word32 most_pieces, most_steps;  // of a trade of the launch
};

// Merges the sums of warps to sums of parts, trade after trade: from [tile][warp][place] to [part][place].
struct derivative_merge_arguments {
    const double* sums;
    double* merged;
    const derivatives_of_trade* derivatives;
    word64 most_places;
    word32 tiles, part_tiles, warps;
};

}  // namespace tilewalk::kernels
