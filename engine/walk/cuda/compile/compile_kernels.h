// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Compiles all groups' texts, and the merge, in parallel. A text that does not compile fails its own jobs. A
// stopped run still waits for compilations under way, since a compiler can't be interrupted.
void compile_kernels(run_state& run, std::span<const std::string> architectures, counted_kernels& kernels);

}  // namespace tilewalk::cuda
