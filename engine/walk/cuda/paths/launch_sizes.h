// SPDX-License-Identifier: Apache-2.0
// Launches are kept short, so that a run ends soon after it is stopped. Work is measured in additions.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// The most work under way on a device. It bounds how long a stopped run waits, since a kernel can't be
// interrupted. An H100 takes 0.09 to 0.18 ps for an addition in double and 0.02 to 0.05 ps in single_fast
// (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, 14 models), so the wait is about 9 ms
// or 2 ms. Kernels that fill arrays with shocks do not count; device memory bounds them.
inline constexpr double most_work_under_way = 0x1p36;
// A quarter, so that three launches are queued while the next is prepared. For an Asian with 252 fixings this
// is 1.4 million paths, five times as many tiles as an H100 walks at once in double.
inline constexpr double most_work_of_launch = most_work_under_way / 4;

struct job_list {
    std::size_t first = 0, count = 0;
};

class launch_sizes {
  public:
    // Both arguments must outlive this.
    launch_sizes(const run_state& run, const job_group& of);

    // Lists of the group's jobs, one list a launch. If numbers are in constant memory, a list's numbers fit.
    std::vector<job_list> lists() const;
    kernels::word64 tiles_at_once(const job_list& list, kernels::word64 tiles) const;
    double work(const job_list& list, kernels::word64 tiles) const;

  private:
    double work(double steps, kernels::word64 tiles) const;  // `steps` is the sum over jobs
    bool may_cut_tiles(std::size_t jobs) const;

    const run_state& run_;
    const job_group& group_;
    double work_of_step_;  // of one path
};

}  // namespace tilewalk::cuda
