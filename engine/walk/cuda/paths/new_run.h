// SPDX-License-Identifier: Apache-2.0
// Prepares a run on GPUs: packs trades, groups jobs by kernel, plans shocks, compiles kernels.
#pragma once

#include <memory>

#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Jobs that can't run on these devices are marked as failed in the outcome. The state refers to `crew`, which
// must outlive it. Throws tilewalk::error (cancelled).
std::unique_ptr<run_state> new_run(const gpu_run& asked, device_crew& crew);

}  // namespace tilewalk::cuda
