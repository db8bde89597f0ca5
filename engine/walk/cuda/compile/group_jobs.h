// SPDX-License-Identifier: Apache-2.0
// The jobs of a run by the kernel that walks them.
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

// A device, and the choices measured on it.
struct tuned_device {
    tuned_choices& choices;
    const device_properties& on;
};

// How points reach the paths of a run's jobs, which take these or none. A feed that was asked for and reads
// arrays reads all of them. Paths make few points themselves, unless more than two jobs of the run take the
// same, for which a row that is filled once is faster, or other jobs of their kernel can't.
class ways_of_points {
  public:
    using points_of_job = std::function<std::optional<quasi::points>(const run::job&)>;
    ways_of_points(const kernel_wish& how, std::span<const run::job> all, points_of_job points);

    // The way of one of the jobs.
    point_way of(const run::job& one) const;

  private:
    const points_of_job points_;
    const bool are_read_;
    std::set<const program::path_program*> made_;  // programs whose paths make their points
};

// Groups of jobs with the same kernel text. `fits` says whether the devices can run a program's kernel built
// in a given way.
std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits);

}  // namespace tilewalk::cuda
