// SPDX-License-Identifier: Apache-2.0
// The sizes of launches: a chunk of a run is cut into launches that are short, so that a run that is told to
// stop soon does. Work is counted in additions.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/cuda/run_state.h"

namespace tilewalk::cuda {

// The work that may be under way on a device. A run that is told to stop waits for no more, because a kernel
// that runs can't be interrupted. An H100 takes 0.09 to 0.18 ps for an addition in double and 0.02 to 0.05 ps
// in single_fast (bench/results/2026-11-22-NVIDIA-H100-80GB-HBM3-bench-models.jsonl, 14 models), so this is
// about 9 ms, or 2. Not counted are the kernels that fill a chunk's arrays with shocks, which its memory
// bounds.
inline constexpr double most_work_under_way = 0x1p36;
// A quarter of that, so that three launches are left while the next one is made: of an Asian with 252 fixings
// it is 1.4 million paths, five times as many tiles as an H100 walks at once in double.
inline constexpr double most_work_of_launch = most_work_under_way / 4;

// Jobs of a group that one launch walks: neighbours in the group's order.
struct job_list {
    std::size_t first = 0, count = 0;
};

class launch_sizes {
  public:
    // Both are kept.
    launch_sizes(const run_state& run, const job_group& of);

    // All jobs of the group, in lists for one launch each. A list takes no more numbers than constant memory
    // holds, if they go there.
    std::vector<job_list> lists() const;
    // How many tiles of a chunk of `tiles` one launch of the list walks.
    kernels::word64 tiles_at_once(const job_list& list, kernels::word64 tiles) const;
    double work(const job_list& list, kernels::word64 tiles) const;

  private:
    double work(double steps, kernels::word64 tiles) const;  // steps of all jobs
    bool may_cut_tiles(std::size_t jobs) const;

    const run_state& run_;
    const job_group& group_;
    double work_of_step_;  // of a path
};

}  // namespace tilewalk::cuda
