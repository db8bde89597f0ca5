// SPDX-License-Identifier: Apache-2.0
// The GPU back end: one kernel for all trades that share a program, launched over lists of (trade, tile).
// Results are stored by tile and merged in the run's fixed tree, so bits depend neither on devices nor on
// chunks. If a device fails, the others do its work; a run fails only if all of them do.
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
    std::string name;  // to show to users
    std::string text;
    std::vector<std::size_t> jobs;
    bool is_walk = false;  // whether it is a path kernel that `how` describes, without moves made ahead
    kernel_decision how{};
};
// The kernels that these jobs need, except those that fill arrays. `points` is for jobs without their own.
std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_wish& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned = {},
                                      const std::optional<quasi::points>& points = {}, int threads = 1);

class launcher : public run::back_end {
  public:
    // `keeps` holds what a walk leaves for the next, such as loaded trades; if null, each walk begins anew.
    launcher(std::vector<std::shared_ptr<loaded_device>> devices, kernel_store& kernels,
             gpu_settings with = {}, ready_run* keeps = nullptr)
        : devices_(std::move(devices)), kernels_(kernels), with_(std::move(with)), keeps_(keeps) {}

    run::outcome walk_all(const run::walk& of) override;
    const gpu_facts& facts() const { return facts_; }
    // Walks with the settings in `run` instead of those given to the constructor.
    gpu_outcome walk_all(const gpu_run& run);

  private:
    std::vector<std::shared_ptr<loaded_device>> devices_;
    kernel_store& kernels_;
    gpu_settings with_;
    ready_run* keeps_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
