// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/gpu_run.h"

#include <algorithm>

namespace tilewalk::cuda {

void gpu_facts::add(const gpu_facts& more) {
    kernels_compiled += more.kernels_compiled;
    kernels_from_cache += more.kernels_from_cache;
    if (why_foreign.empty()) why_foreign = more.why_foreign;
    launches += more.launches;
    device_seconds += more.device_seconds;
    kernel_seconds += more.kernel_seconds;
    add_lost(more);
    for (std::size_t d = 0; d < more.shares.size(); ++d)
        shares[d].has_walked = shares[d].has_walked || more.shares[d].has_walked;
}

void gpu_facts::add_lost(const gpu_facts& of) {
    shares.resize(std::max(shares.size(), of.shares.size()));
    for (std::size_t d = 0; d < of.shares.size(); ++d)
        if (!shares[d].lost) shares[d].lost = of.shares[d].lost;
}

}  // namespace tilewalk::cuda
