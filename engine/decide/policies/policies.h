// SPDX-License-Identifier: Apache-2.0
// Policies of trades with rights, found on GPUs: many trades of a shape at a time, each launch on the device
// that is free. They have the bits of those that the CPU finds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/training.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "kernels/exercise/backward_arguments.h"

namespace tilewalk::cuda {

// A policy that is to be found; and the arrays of the market by which its paths move, if they do.
struct wanted_policy {
    const exercise::untrained* of;
    std::span<const arrays::shock_cube> scenarios{};
};

class policies {
  public:
    // memory_bytes: the most of each device, 0: all that is free. `threads` compile kernels. A block that
    // has no room in shared memory for the paths that it would read ahead reads them ahead in registers.
    policies(std::span<const std::shared_ptr<loaded_device>> on, kernel_store& kernels,
             std::uint64_t memory_bytes, int threads,
             kernels::path_reads reads = kernels::path_reads::register_rolling)
        : on_(on), kernels_(kernels), memory_bytes_(memory_bytes), threads_(threads), reads_(reads) {}

    // Finds the policies of trades, each from its own paths. Returns by trade the policy, or why there is
    // none: a kernel that can't be compiled, too little memory, no device that is left, a path that has no
    // finite number. Both are missing where a block has no room for so many functions and uses,
    // or an array lacks what paths read. Throws tilewalk::error: cancelled.
    struct found {
        std::optional<exercise::policy> by;
        std::optional<error> failure;
        std::string why_left{};  // to the CPU, where no GPU could find it
    };
    std::vector<found> find(std::span<const wanted_policy> of, std::uint64_t seed,
                            const std::atomic<bool>* cancel);

    gpu_facts facts() const;

  private:
    std::span<const std::shared_ptr<loaded_device>> on_;
    counted_kernels kernels_;
    std::uint64_t memory_bytes_;
    int threads_;
    kernels::path_reads reads_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
