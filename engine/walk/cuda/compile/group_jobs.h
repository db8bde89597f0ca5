// SPDX-License-Identifier: Apache-2.0
// Groups a run's jobs by the kernel that walks them.
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

// How points reach paths. A requested feed of arrays reads all points. Otherwise paths make few points
// themselves, unless more than two jobs take the same ones, since one filled row is then faster, or other
// jobs of their kernel can't.
class ways_of_points {
  public:
    using points_of_job = std::function<std::optional<quasi::points>(const run::job&)>;
    ways_of_points(const kernel_wish& how, std::span<const run::job> all, points_of_job points);

    point_way of(const run::job& one) const;

  private:
    const points_of_job points_;
    const bool are_read_;
    std::set<const program::path_program*> made_;  // programs whose paths make their points
};

// `fits` says whether the devices can run a program's kernel built so.
std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits);

}  // namespace tilewalk::cuda
