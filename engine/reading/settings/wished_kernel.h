// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "tilewalk/run_settings.h"

namespace tilewalk {

// Returns the kernel that the settings ask for. `all` has the defaults filled in. Throws tilewalk::error
// (usage) for a feed that draws its own shocks if the run has to read shocks from memory.
cuda::kernel_wish wished_kernel(const run_settings& all);

}  // namespace tilewalk
