// SPDX-License-Identifier: Apache-2.0
// A crew of devices that shares the tiles of a run, a thread for each.
#pragma once

#include <memory>
#include <vector>

#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/paths/device_walk.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Walks all jobs of the run that have not failed, and puts their tallies into the outcome. Kernels must be
// compiled and shocks planned. Fails all jobs when all devices are lost. Throws tilewalk::error: cancelled,
// or what has ended the run.
// `walks` are by device: each begins with what a run before has left there, if there is any, and is left for
// another run.
void walk_on_devices(run_state& run, device_crew& crew, std::vector<std::unique_ptr<device_walk>>& walks);

}  // namespace tilewalk::cuda
