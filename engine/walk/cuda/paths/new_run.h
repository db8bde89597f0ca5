// SPDX-License-Identifier: Apache-2.0
// Makes a run ready to be walked: packs and groups jobs, plans shocks, compiles kernels.
#pragma once

#include <memory>
#include <span>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Jobs that these devices can't walk have failed in the outcome. Keeps `kernels`.
std::unique_ptr<run_state> new_run(const gpu_run& asked,
                                   std::span<const std::shared_ptr<loaded_device>> devices,
                                   counted_kernels& kernels);

}  // namespace tilewalk::cuda
