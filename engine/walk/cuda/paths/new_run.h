// SPDX-License-Identifier: Apache-2.0
// A run made ready to be walked: its jobs packed and grouped, its shocks planned, its kernels compiled.
#pragma once

#include <memory>
#include <span>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Jobs that can't be walked on these devices have failed in the outcome. A run that is stopped meanwhile is
// not to be walked. `kernels` is kept.
std::unique_ptr<run_state> new_run(const gpu_run& asked,
                                   std::span<const std::shared_ptr<loaded_device>> devices,
                                   counted_kernels& kernels);

}  // namespace tilewalk::cuda
