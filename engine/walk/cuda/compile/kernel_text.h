// SPDX-License-Identifier: Apache-2.0
// CUDA source texts of path kernels, from a program and a decision how to build the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// Text of a kernel named `walk`, whose argument is a kernels::path_arguments.
std::string path_kernel_text(const program::path_program& p, const kernel_decision& how);

// Text of a kernel named `leave`, whose argument is a kernels::leaving_arguments. It gives no results: after
// each run of section k, paths store the states leaves[k]; sections beyond the end of `leaves` store none.
using left_states = std::vector<std::vector<std::uint32_t>>;
std::string leaving_kernel_text(const program::path_program& p, const kernel_decision& how,
                                const left_states& leaves);

std::size_t path_kernel_shared_bytes(const program::path_program& p, const kernel_decision& how);

// Text of kernel `merge_tiles` (kernels::merge_arguments), launched with merge_threads threads for each part.
inline constexpr std::uint32_t merge_threads = 256;
std::string merge_kernel_text();

}  // namespace tilewalk::cuda
