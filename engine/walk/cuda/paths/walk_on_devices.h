// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of a run on a crew of devices, with a thread for each.
#pragma once

#include <memory>
#include <vector>

#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/paths/device_walk.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Walks all jobs that have not failed, and puts their tallies into run.outcome. Kernels must be compiled and
// shocks planned. If all devices are lost, all jobs fail. Throws tilewalk::error: cancelled, or what ended
// the run. `walks` has, by device, what an earlier run left there (or null); this run leaves its own in it.
void walk_on_devices(run_state& run, device_crew& crew, std::vector<std::unique_ptr<device_walk>>& walks);

}  // namespace tilewalk::cuda
