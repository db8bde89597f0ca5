// SPDX-License-Identifier: Apache-2.0
// Shares the tiles of a run among devices, one thread each. A lost device returns its tiles to the others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/paths/device_walk.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Walks all jobs that have not failed. The outcome gets their tallies and the fate of each device. Kernels
// must be compiled and shocks planned. A failure of the whole run fails all jobs. `walks`, by device, begin
// with what an earlier run left there, if any, and are left for another run.
void walk_on_devices(run_state& run, std::span<const std::shared_ptr<loaded_device>> devices,
                     std::vector<std::unique_ptr<device_walk>>& walks);

}  // namespace tilewalk::cuda
