// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/path_kernel.h"

namespace tilewalk::kernels {

// Numbers of a thread's paths in memory of its block, which lie as [number][path of the thread][thread].
template <class number, int width, int threads>
struct numbers_of_paths {
    number* first;  // the thread's

    static numbers_of_paths in(void* of_block, word64 from = 0) {
        return {static_cast<number*>(of_block) + from * (width * threads) + threadIdx.x};
    }
    numbers_of_paths from(int i) const { return {first + word64(i) * (width * threads)}; }
    number& operator()(int i, int w) const { return first[word32((i * width + w) * threads)]; }
};

}  // namespace tilewalk::kernels
