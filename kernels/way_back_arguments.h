// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernel of both ways and of the one that merges its sums, with the same layout on the
// host and on the device.
#pragma once

#include "kernels/arguments.h"

namespace tilewalk::kernels {

static constexpr int most_sections = 32;
static constexpr int threads_of_warp = 32;

struct way_back_arguments {
    path_arguments forth;      // of one trade
    const trade_record* back;  // its way back, whose numbers are behind `back_numbers`
    const void* back_numbers;
    const word32* back_words;
    void* kept;    // [block][piece][carried state][path of the pass]
    void* shocks;  // [block][step][slot][path of the pass]; null where they are made again
    double* sums;  // [tile of the launch][warp of the tile][place]
    word64 places;
    word32 pieces;
    word32 first_place[most_sections];  // by section: the place of its first run
};

// Merges the sums of warps: [tile][warp][place] to [part][place].
struct derivative_merge_arguments {
    const double* sums;
    double* merged;
    word64 places;
    word32 tiles, part_tiles, warps;
};

}  // namespace tilewalk::kernels
