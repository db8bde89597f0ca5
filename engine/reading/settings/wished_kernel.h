// SPDX-License-Identifier: Apache-2.0
// The kernel that the settings of a run wish for.
#pragma once

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "tilewalk/run_settings.h"

namespace tilewalk {

// `all` are settings with the presets filled in. Throws tilewalk::error (usage) for a feed that makes its own
// shocks in a run that has to read them.
cuda::kernel_wish wished_kernel(const run_settings& all);

}  // namespace tilewalk
