// SPDX-License-Identifier: Apache-2.0
// The tree of merge_tiles(), by the threads of a block: merges neighbours first, carries an odd last one up.
#pragma once

#include "kernels/tile_result.h"

namespace tilewalk::kernels {

// Merges m[0] to m[count - 1] into m[0], which thread 0 writes; overwrites the rest of m.
template <int threads>
static void merge_in_block(tile_result* m, word32 count) {
    while (count > 1) {
        const word32 next = (count + 1) / 2;
        // A round writes below what later rounds read; within a round, all threads read before any writes.
        for (word32 first = 0; first < next; first += threads) {
            const word32 i = first + threadIdx.x;
            tile_result r{};
            if (i < next) r = 2 * i + 1 < count ? merge(m[2 * i], m[2 * i + 1]) : m[2 * i];
            __syncthreads();
            if (i < next) m[i] = r;
            __syncthreads();
        }
        count = next;
    }
}

}  // namespace tilewalk::kernels
