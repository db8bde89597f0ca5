// SPDX-License-Identifier: Apache-2.0
// Trains policies on GPUs, many trades of one shape in a launch, with the same bits as on the CPU.
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
    // `memory_bytes`: limit on each device's memory; 0: all that is free. `threads` compile kernels. `reads`:
    // how kernels read paths ahead; register_rolling if shared memory has no room for the way chosen.
    policies(device_crew::devices on, kernel_store& kernels, std::uint64_t memory_bytes, int threads,
             kernels::path_reads reads = kernels::path_reads::register_rolling)
        : crew_(on, kernels), memory_bytes_(memory_bytes), threads_(threads), reads_(reads) {}

    // The result for one trade: a policy, or why there is none, such as a kernel that can't be compiled, too
    // little memory, no device left, or a path without finite number. Both are empty if nothing has to be
    // found, if a block has no room for so many functions and uses, or if a scenario array is too small.
    struct found {
        std::optional<exercise::policy> by;
        std::optional<error> failure;
        std::string why_left{};  // why the CPU has to train it; empty if a GPU could
    };
    // Returns a result for each trade. Throws tilewalk::error (cancelled).
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
