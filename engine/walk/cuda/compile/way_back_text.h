// SPDX-License-Identifier: Apache-2.0
// Source text of the kernel that walks a program forward and back, with the kernel that merges its results.
#pragma once

#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "products/program/adjoint.h"

namespace tilewalk::cuda {

struct way_back_kernel : way_back_memory, built_kernel {};
way_back_kernel way_back_kernel_of(const program::path_program& p, const program::adjoint_program& a,
                                   const way_back_decision& how);

}  // namespace tilewalk::cuda
