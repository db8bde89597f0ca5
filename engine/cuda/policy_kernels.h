// SPDX-License-Identifier: Apache-2.0
// The kernels that find policies: one whose paths leave numbers, and the way back through dates.
#pragma once

#include <cstdint>
#include <string>

#include "engine/exercise/training.h"
#include "kernels/exercise/backward_arguments.h"

namespace tilewalk::cuda {

// The sizes of a policy, as kernels have them.
kernels::backward_sizes backward_sizes_of(const exercise::policy& by);

struct policy_kernels {
    // The kernel `leave`, which takes kernels::leaving_arguments; a block walks a tile.
    std::string leaving;
    std::uint32_t leaving_threads = 0, leaving_shared_bytes = 0;
    // The kernel `find_policy`, which takes kernels::backward_arguments.
    std::string backward;
    std::uint32_t backward_threads = kernels::paths_of_block, backward_shared_bytes = 0;
};
policy_kernels policy_kernels_of(const exercise::untrained& of);

}  // namespace tilewalk::cuda
