// SPDX-License-Identifier: Apache-2.0
// The jobs of a run by the kernel that walks them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/cuda/gpu_run.h"
#include "engine/cuda/kernel_wish.h"
#include "engine/cuda/moves_walk.h"
#include "engine/cuda/packed_trades.h"
#include "engine/cuda/run_state.h"
#include "engine/cuda/tuned_choices.h"

namespace tilewalk::cuda {

// A device, and the choices measured on it.
struct tuned_device {
    tuned_choices& choices;
    const device_properties& on;
};

// The wish for the path kernel of a job that takes these points, or none, in a run with this wish. A feed
// that was asked for and reads arrays reads all moves of a coarse bridge there.
kernel_wish wish_for_points(kernel_wish how, const std::optional<quasi::points>& points,
                            const program::path_program& code, const program::timeline& when);

// Groups of jobs with the same kernel text. `fits` says whether the devices can run a program's kernel built
// in a given way.
std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits);

}  // namespace tilewalk::cuda
