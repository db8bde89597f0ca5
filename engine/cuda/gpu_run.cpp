// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/gpu_run.h"

#include <algorithm>

namespace tilewalk::cuda {

void gpu_facts::add(const gpu_facts& more) {
    kernels_compiled += more.kernels_compiled;
    kernels_from_cache += more.kernels_from_cache;
    launches += more.launches;
    device_seconds += more.device_seconds;
    kernel_seconds += more.kernel_seconds;
    shares.resize(std::max(shares.size(), more.shares.size()));
    for (std::size_t d = 0; d < more.shares.size(); ++d) {
        shares[d].has_walked = shares[d].has_walked || more.shares[d].has_walked;
        if (!shares[d].lost) shares[d].lost = more.shares[d].lost;
    }
}

}  // namespace tilewalk::cuda
