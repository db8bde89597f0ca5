// SPDX-License-Identifier: Apache-2.0
// Groups the jobs of a run by the kernel that walks them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/paths/moves_walk.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

struct tuned_device {
    tuned_choices& choices;
    const device_properties& on;
};

// Decides how quasi-random points reach the paths of each job. A feed that reads arrays, if asked for, reads
// all points. Otherwise paths compute their points themselves if these are few, no more than two jobs share
// them (else one filled row is faster), and both hold for all jobs of the program.
class ways_of_points {
  public:
    using points_of_job = std::function<std::optional<quasi::points>(const run::job&)>;
    ways_of_points(const kernel_wish& how, std::span<const run::job> all, points_of_job points);

    point_way way_of(const run::job& one) const;

  private:
    const points_of_job points_;
    const bool are_read_;
    std::set<const program::path_program*> made_;  // programs whose paths compute their points
};

// `fits` says whether the devices can run the kernel of a program under a decision.
std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits);

}  // namespace tilewalk::cuda
