// SPDX-License-Identifier: Apache-2.0
// GPUs as a back end: one kernel for all trades of a shape, launched over lists of (trade, tile). Bits do not
// depend on which device walks a tile, or on how many chunks a run is cut into: results are kept by tile and
// merged in the run's one tree. A device that fails hands its work to the others: as long as one lives, so
// does the run.
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

// A kernel that some jobs need; jobs are given by index.
struct needed_kernel {
    std::string name;  // for people
    std::string text;
    std::vector<std::size_t> jobs;
    bool is_walk = false;  // a path kernel that makes its own shocks, built as `how` says
    kernel_decision how{};
};
// All kernels that a run of these jobs compiles, except for those that fill arrays with shocks. `points`: of
// jobs that do not say.
std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_wish& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned = {},
                                      const std::optional<quasi::points>& points = {});

class launcher : public run::back_end {
  public:
    // Walks leave in `keeps` what the next one can use; without it each begins anew.
    launcher(std::vector<std::shared_ptr<loaded_device>> devices, kernel_store& kernels,
             gpu_settings with = {}, ready_run* keeps = nullptr)
        : devices_(std::move(devices)), kernels_(kernels), with_(std::move(with)), keeps_(keeps) {}

    run::outcome walk_all(const run::walk& of) override;
    // The facts of all walks through the interface run::back_end.
    const gpu_facts& facts() const { return facts_; }
    // The same with other settings, and with the facts of this run.
    gpu_outcome walk_all(const gpu_run& run);

  private:
    std::vector<std::shared_ptr<loaded_device>> devices_;
    kernel_store& kernels_;
    gpu_settings with_;
    ready_run* keeps_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
