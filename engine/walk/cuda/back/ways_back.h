// SPDX-License-Identifier: Apache-2.0
// Walks trades forward and back on GPUs: many trades of one program in each launch, on any free device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/compile/way_back_text.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/job.h"

namespace tilewalk::cuda {

class ways_back {
  public:
    using decider = std::function<way_back_decision(const run::job&)>;
    // `memory_bytes` is the most to use on a device; 0: all that is free. `source` is for jobs without
    // points, unless shocks are replayed.
    ways_back(device_crew::devices on, kernel_store& kernels, decider how, std::uint64_t memory_bytes,
              int threads, const random::catalogue_entry& source = random::catalogue().front())
        : crew_(on, kernels),
          how_(std::move(how)),
          memory_bytes_(memory_bytes),
          threads_(threads),
          source_(source) {}
    // How to build a job's kernel: as measured on the device if that changes no bit, else by the rules.
    static decider as_suits(program::precision precision, int rounds,
                            const std::optional<tuned_device>& measured = std::nullopt);

    // Why a GPU can't walk a job forward and back; empty if it can.
    static std::string why_not(const run::job& j);
    // Text of a job's kernel, if there is room for its shocks. `reads_arrays`: shocks come from arrays.
    static std::string text_of(const run::job& j, const way_back_decision& how, bool reads_arrays);
    static bool can_walk(const run::job& j) { return why_not(j).empty(); }

    // Receives each finished job's tally; called by several threads at once.
    using tally_callback = std::function<void(std::size_t job, const run::tally& found)>;
    // Walks all jobs. Returns, by job, the error of a job without a tally: its kernel did not compile, its
    // numbers could not be packed, or no device was left. Throws tilewalk::error (cancelled).
    std::vector<std::optional<error>> walk(const run::walk& of, const tally_callback& take);

    gpu_facts facts() const { return crew_.facts(); }

  private:
    device_crew crew_;
    decider how_;
    std::uint64_t memory_bytes_;
    int threads_;
    const random::catalogue_entry& source_;
};

}  // namespace tilewalk::cuda
