// SPDX-License-Identifier: Apache-2.0
// What of a kernel nobody chose.
#pragma once

#include <functional>

#include "engine/cuda/kernel_choice.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// `asked` with everything decided that it leaves open, for this program. `fits` says whether devices can run
// a kernel that is built so, for so many shocks a step.
kernel_choice best_choice(const kernel_choice& asked, const program::path_program& p,
                          const std::function<bool(const kernel_choice&, int)>& fits);

}  // namespace tilewalk::cuda
