// SPDX-License-Identifier: Apache-2.0
// Ways back on a GPU: trades one after the other, each with the kernel of its shape.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/cuda/gpu_run.h"
#include "engine/cuda/kernel_store.h"
#include "engine/cuda/loaded_device.h"
#include "engine/cuda/way_back_text.h"
#include "engine/run/job.h"

namespace tilewalk::cuda {

class ways_back {
  public:
    // memory_bytes 0: all that is free.
    ways_back(loaded_device& on, kernel_store& kernels, const way_back_decision& how,
              std::uint64_t memory_bytes)
        : on_(on), kernels_(kernels), how_(how), memory_bytes_(memory_bytes) {}

    // Whether a GPU can walk a job's way back.
    static bool can_walk(const run::job& j);
    // Walks the job over the tiles of the walk. Throws tilewalk::error: device_error, compile, cancelled.
    run::tally walk(const run::job& j, const run::walk& of);

    // The kernels and launches of all walks.
    const gpu_facts& facts() const { return facts_; }

  private:
    loaded_device& on_;
    kernel_store& kernels_;
    way_back_decision how_;
    std::uint64_t memory_bytes_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
