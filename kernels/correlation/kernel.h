// SPDX-License-Identifier: Apache-2.0
// A block of threads that runs a correlation kernel on a GPU; a host can't compile its barriers.
#pragma once

#include "kernels/correlation/arguments.h"
#include "kernels/loops.h"

namespace tilewalk::kernels::correlation {

// `memory` is shared by the block: variant::shared_bytes bytes, aligned to 16.
template <class variant>
static void correlate_block(const arguments& a, char* memory) {
    auto& shared = *reinterpret_cast<typename variant::shared*>(memory);
    variant thread(a, blockIdx.x, int(threadIdx.x));
    rolled(0, thread.stages(), [&](int stage) {
        thread.fetch(stage, shared);
        __syncthreads();
        thread.use(stage, shared);
        __syncthreads();
    });
    thread.finish();
}

}  // namespace tilewalk::kernels::correlation
