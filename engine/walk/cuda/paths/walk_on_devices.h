// SPDX-License-Identifier: Apache-2.0
// A crew of threads, one per device, that shares the tiles of a run. A lost device returns its tiles to the
// others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/paths/device_walk.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Walks all jobs of the run that have not failed, and puts their tallies and what became of each device into
// the outcome. Kernels must be compiled and shocks planned. A failure of the whole run fails all of its jobs.
// `walks` are by device: each begins with what a run before has left there, if there is any, and is left for
// another run.
void walk_on_devices(run_state& run, std::span<const std::shared_ptr<loaded_device>> devices,
                     std::vector<std::unique_ptr<device_walk>>& walks);

}  // namespace tilewalk::cuda
