// SPDX-License-Identifier: Apache-2.0
// GPUs as a back end: one kernel for all trades of a shape, launched over lists of (trade, tile). Results are
// kept by tile and merged in the run's one tree, so bits depend neither on devices nor on chunks. A device
// that fails hands its work to the others; a run ends only with its last device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/paths/ready_run.h"
#include "engine/walk/job.h"

namespace tilewalk::cuda {

struct needed_kernel {
    std::string name;  // for people
    std::string text;
    std::vector<std::size_t> jobs;
    bool is_walk = false;  // a path kernel that makes its own shocks, built as `how` says
    kernel_decision how{};
};
// Leaves out kernels that fill arrays. `points` serves jobs without their own.
std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_wish& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned = {},
                                      const std::optional<quasi::points>& points = {});

class launcher : public run::back_end {
  public:
    // Walks leave in `keeps` what the next one can use; without it, every walk begins anew.
    launcher(std::vector<std::shared_ptr<loaded_device>> devices, kernel_store& kernels,
             gpu_settings with = {}, ready_run* keeps = nullptr)
        : devices_(std::move(devices)), kernels_(kernels), with_(std::move(with)), keeps_(keeps) {}

    run::outcome walk_all(const run::walk& of) override;
    const gpu_facts& facts() const { return facts_; }
    // Uses the run's own settings, and returns its facts.
    gpu_outcome walk_all(const gpu_run& run);

  private:
    std::vector<std::shared_ptr<loaded_device>> devices_;
    kernel_store& kernels_;
    gpu_settings with_;
    ready_run* keeps_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
