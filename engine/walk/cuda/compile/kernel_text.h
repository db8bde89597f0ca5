// SPDX-License-Identifier: Apache-2.0
// Translation units of path kernels: a printed program, a decision, and the kernel headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// Kernel `walk` with one kernels::path_arguments.
std::string path_kernel_text(const program::path_program& p, const kernel_decision& how);

// Kernel `leave` with one kernels::leaving_arguments: after each run of a section, paths leave these of its
// states, and no result. Missing sections leave none.
using left_states = std::vector<std::vector<std::uint32_t>>;
std::string leaving_kernel_text(const program::path_program& p, const kernel_decision& how,
                                const left_states& leaves);

std::size_t path_kernel_shared_bytes(const program::path_program& p, const kernel_decision& how);

// Kernel `merge_tiles` with one kernels::merge_arguments, and a block of merge_threads for each part.
inline constexpr std::uint32_t merge_threads = 256;
std::string merge_kernel_text();

}  // namespace tilewalk::cuda
