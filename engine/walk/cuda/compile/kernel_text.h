// SPDX-License-Identifier: Apache-2.0
// The translation unit of a path kernel: a printed program, the decision how it is built, and the kernel
// headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// Its kernel is called `walk` and takes one kernels::path_arguments.
std::string path_kernel_text(const program::path_program& p, const kernel_decision& how);

// The same walk by a kernel `leave` that takes one kernels::leaving_arguments: after each run of a section
// paths leave these states of it, and no result. Later sections leave none.
using left_states = std::vector<std::vector<std::uint32_t>>;
std::string leaving_kernel_text(const program::path_program& p, const kernel_decision& how,
                                const left_states& leaves);

// Dynamic shared memory that a block of the path kernel takes.
std::size_t path_kernel_shared_bytes(const program::path_program& p, const kernel_decision& how);

// The kernel `merge_tiles`: takes kernels::merge_arguments, one block of so many threads for each part.
inline constexpr std::uint32_t merge_threads = 256;
std::string merge_kernel_text();

}  // namespace tilewalk::cuda
