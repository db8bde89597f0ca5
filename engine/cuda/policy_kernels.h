// SPDX-License-Identifier: Apache-2.0
// The kernels that find policies: one whose paths leave numbers, and the way back through dates.
#pragma once

#include <cstdint>
#include <string>

#include "engine/exercise/training.h"
#include "kernels/exercise/backward_arguments.h"

namespace tilewalk::cuda {

struct policy_kernels {
    // The kernel `leave`, which takes kernels::leaving_arguments; a block walks a tile.
    std::string leaving;
    std::uint32_t leaving_threads = 0, leaving_shared_bytes = 0;
    // The kernel `find_policy`, which takes kernels::backward_arguments: for all dates, and, if there is a
    // gain to find, for every second one, without a bound.
    struct way_back {
        std::string text;
        kernels::backward_sizes sizes{};
        std::uint32_t threads = kernels::paths_of_block, shared_bytes = 0;
    };
    way_back all, every_second;
};
policy_kernels policy_kernels_of(const exercise::untrained& of);
// Rights of several uses or with notice, and those on scenarios, are left to the CPU.
bool is_found_on_gpus(const exercise::untrained& of);

}  // namespace tilewalk::cuda
