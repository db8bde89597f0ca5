// SPDX-License-Identifier: Apache-2.0
// Counts the words in which two arrays differ, to check that two kernels gave the same bits.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::studies {

// Adds the number of different words to `differing`, by any number of blocks.
static void compare(const word32* a, const word32* b, word64 count, word64* differing) {
    word64 mine = 0;
    const word64 all_threads = word64(gridDim.x) * blockDim.x;
    for (word64 i = word64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += all_threads) {
        mine += a[i] != b[i];
    }
    if (mine != 0) atomicAdd(differing, mine);
}

}  // namespace tilewalk::kernels::studies
