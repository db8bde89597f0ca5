// SPDX-License-Identifier: Apache-2.0
// The fastest plain copy of memory, which other rates are compared with: a thread copies 64 bytes, 16 a load.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::studies {

struct alignas(16) sixteen_bytes {
    word32 x[4];
};

static constexpr int copies_of_thread = 4;

// The grid must cover `count` pieces; a block copies blockDim.x * copies_of_thread of them.
static void copy(const sixteen_bytes* from, sixteen_bytes* to, word64 count) {
    const word64 first = word64(blockIdx.x) * blockDim.x * copies_of_thread + threadIdx.x;
    sixteen_bytes x[copies_of_thread];
    for (int k = 0; k < copies_of_thread; ++k) {
        const word64 at = first + word64(k) * blockDim.x;
        if (at < count) x[k] = from[at];
    }
    for (int k = 0; k < copies_of_thread; ++k) {
        const word64 at = first + word64(k) * blockDim.x;
        if (at < count) to[at] = x[k];
    }
}

}  // namespace tilewalk::kernels::studies
