// SPDX-License-Identifier: Apache-2.0
// Ways back on GPUs: trades of one shape many at a time, each launch on the device that is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/compile/way_back_text.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/job.h"

namespace tilewalk::cuda {

class ways_back {
  public:
    // Decides how the kernel for all jobs like this one is built.
    using decider = std::function<way_back_decision(const run::job&)>;
    // memory_bytes: the most of each device, 0: all that is free. `threads` compile kernels. `source` is that
    // of jobs without points, where no file replaces it.
    ways_back(std::span<const std::shared_ptr<loaded_device>> on, kernel_store& kernels, decider how,
              std::uint64_t memory_bytes, int threads,
              const random::catalogue_entry& source = random::catalogue().front())
        : on_(on),
          kernels_(kernels),
          how_(std::move(how)),
          memory_bytes_(memory_bytes),
          threads_(threads),
          source_(source) {}
    // As was measured on a device, where that changes no bit, else by the rules.
    static decider as_suits(program::precision precision, int rounds,
                            const std::optional<tuned_device>& measured = std::nullopt);

    // Why a GPU can't walk a job's way back; empty: it can.
    static std::string why_not(const run::job& j);
    static bool can_walk(const run::job& j) { return why_not(j).empty(); }

    // Called once a job with its tally, for several jobs at a time.
    using taker = std::function<void(std::size_t job, const run::tally& found)>;
    // Walks all jobs, over the tiles of the walk. Returns by job why it has no tally: a kernel that can't be
    // compiled, numbers that can't be packed, or no device that is left. Throws tilewalk::error: cancelled.
    std::vector<std::optional<error>> walk(const run::walk& of, const taker& take);

    gpu_facts facts() const;

  private:
    std::span<const std::shared_ptr<loaded_device>> on_;
    counted_kernels kernels_;
    decider how_;
    std::uint64_t memory_bytes_;
    int threads_;
    const random::catalogue_entry& source_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
