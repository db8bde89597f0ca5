// SPDX-License-Identifier: Apache-2.0
// Launches are short, so that a run ends soon after it is stopped. Work is counted in additions.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// The most work under way on a device, which bounds the wait of a stopped run, since a kernel can't be
// interrupted. An H100 takes 0.09 to 0.18 ps for an addition in double and 0.02 to 0.05 ps in single_fast
// (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, 14 models), so about 9 ms or 2 ms.
// Kernels that fill arrays with shocks are not counted; device memory bounds them.
inline constexpr double most_work_under_way = 0x1p36;
// A quarter, so that three launches are left while the next one is made. An Asian with 252 fixings gets 1.4
// million paths, five times as many tiles as an H100 walks at once in double.
inline constexpr double most_work_of_launch = most_work_under_way / 4;

struct job_list {
    std::size_t first = 0, count = 0;
};

class launch_sizes {
  public:
    // Keeps references to both.
    launch_sizes(const run_state& run, const job_group& of);

    // All jobs of the group, one list for each launch. Constant memory, if used, holds a list's numbers.
    std::vector<job_list> lists() const;
    kernels::word64 tiles_at_once(const job_list& list, kernels::word64 tiles) const;
    double work(const job_list& list, kernels::word64 tiles) const;

  private:
    double work(double steps, kernels::word64 tiles) const;  // `steps` of all jobs
    bool may_cut_tiles(std::size_t jobs) const;

    const run_state& run_;
    const job_group& group_;
    double work_of_step_;  // per path
};

}  // namespace tilewalk::cuda
