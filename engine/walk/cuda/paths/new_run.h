// SPDX-License-Identifier: Apache-2.0
// Makes a run ready to be walked: packs and groups jobs, plans shocks, compiles kernels.
#pragma once

#include <memory>

#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Jobs that can't be walked on these devices have failed in the outcome. The crew is kept. Throws
// tilewalk::error (cancelled).
std::unique_ptr<run_state> new_run(const gpu_run& asked, device_crew& crew);

}  // namespace tilewalk::cuda
