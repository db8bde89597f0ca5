// SPDX-License-Identifier: Apache-2.0
// A kernel wish that leaves nothing open, for runs whose kernels a test knows in advance.
#pragma once

#include "engine/walk/cuda/compile/kernel_wish.h"

namespace tilewalk::tests {

inline cuda::kernel_wish wish_for(const cuda::kernel_decision& how) {
    cuda::kernel_wish wish;
    static_cast<cuda::kernel_basis&>(wish) = how;
    wish.feed = how.feed;
    for (const cuda::knob_id k : cuda::all_knobs()) wish[k] = how[k];
    wish.blocks = how.blocks;
    return wish;
}

}  // namespace tilewalk::tests
