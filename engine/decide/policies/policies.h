// SPDX-License-Identifier: Apache-2.0
// Finds policies on GPUs, many trades of a shape at a time, with the bits of the CPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/training.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "kernels/exercise/backward_arguments.h"

namespace tilewalk::cuda {

struct wanted_policy {
    const exercise::untrained* of;
    std::span<const arrays::shock_cube> scenarios{};
};

class policies {
  public:
    // memory_bytes`: limit on each device, 0: all that is free. `threads` compile kernels. A block without
    // room in shared memory to read paths ahead reads them ahead in registers.
    policies(device_crew::devices on, kernel_store& kernels, std::uint64_t memory_bytes, int threads,
             kernels::path_reads reads = kernels::path_reads::register_rolling)
        : crew_(on, kernels), memory_bytes_(memory_bytes), threads_(threads), reads_(reads) {}

    // By trade, the policy, or why there is none: a kernel that can't be compiled, too little memory, no
    // device left, a path that has no finite number. Both are empty if a block has no room for so many
    // functions and uses, or if an array lacks what paths read. Throws tilewalk::error (cancelled).
    struct found {
        std::optional<exercise::policy> by;
        std::optional<error> failure;
        std::string why_left{};  // to the CPU, if no GPU could find it
    };
    std::vector<found> find(std::span<const wanted_policy> of, std::uint64_t seed,
                            const std::atomic<bool>* cancel);

    gpu_facts facts() const { return crew_.facts(); }

  private:
    device_crew crew_;
    std::uint64_t memory_bytes_;
    int threads_;
    kernels::path_reads reads_;
};

}  // namespace tilewalk::cuda
