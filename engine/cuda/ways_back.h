// SPDX-License-Identifier: Apache-2.0
// Ways back on a GPU: trades one after the other, each with the kernel of its shape.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/cuda/counted_kernels.h"
#include "engine/cuda/loaded_device.h"
#include "engine/cuda/way_back_text.h"
#include "engine/run/job.h"

namespace tilewalk::cuda {

class ways_back {
  public:
    // memory_bytes 0: all that is free.
    ways_back(loaded_device& on, counted_kernels& kernels, const way_back_decision& how,
              std::uint64_t memory_bytes)
        : on_(on), kernels_(kernels), how_(how), memory_bytes_(memory_bytes) {}

    // Whether a GPU can walk a job's way back.
    static bool can_walk(const run::job& j);
    // Compiles the kernels of jobs ahead of their walks, by several threads. Whatever fails is left to the
    // walk that needs it; only a stop is thrown.
    void compile(std::span<const run::job> jobs, const run::walk& of, int threads);
    // Walks the job over the tiles of the walk. Throws tilewalk::error: device_error, compile, cancelled.
    run::tally walk(const run::job& j, const run::walk& of);

    std::uint64_t launches() const { return launches_; }

  private:
    // The kernel of a job and what it takes of a device's memory.
    struct plan;
    plan plan_of(const run::job& j, const run::walk& of) const;

    loaded_device& on_;
    counted_kernels& kernels_;
    way_back_decision how_;
    std::uint64_t memory_bytes_;
    std::uint64_t launches_ = 0;
};

}  // namespace tilewalk::cuda
