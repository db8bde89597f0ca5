// SPDX-License-Identifier: Apache-2.0
// The kernels of a run, compiled by several threads.
#pragma once

#include <span>
#include <string>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// Compiles the texts of all groups, and of what merges, for each architecture. A text that does not compile
// fails its own jobs. A run that is stopped meanwhile
// leaves nothing, and waits for the compilations under way, because a compiler can't be interrupted.
void compile_kernels(run_state& run, std::span<const std::string> architectures, counted_kernels& kernels);

}  // namespace tilewalk::cuda
