// SPDX-License-Identifier: Apache-2.0
// A crew of threads, one a device, that shares the tiles of a run. A device that is lost hands its tiles back
// to the others.
#pragma once

#include <memory>
#include <span>

#include "engine/cuda/loaded_device.h"
#include "engine/cuda/run_state.h"

namespace tilewalk::cuda {

// Walks all jobs of the run that have not failed, and leaves their tallies, and what became of each device,
// in its outcome. Kernels are compiled and shocks planned. A run that fails as a whole fails all of its jobs.
void walk_on_devices(run_state& run, std::span<const std::shared_ptr<loaded_device>> devices);

}  // namespace tilewalk::cuda
