// SPDX-License-Identifier: Apache-2.0
// The text of the kernel that walks a program both ways, and its merge.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/philox.h"
#include "products/program/adjoint.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

// Constants of the text besides the programs. No bit of a result depends on keeps_shocks, width, block or
// piece_steps in any precision but single_fast; bench/results/2026-11-24-NVIDIA-H200-ways-back*.txt have what
// others cost.
struct way_back_decision {
    program::precision precision = program::precision::double_;
    int rounds = kernels::philox_rounds;
    int width = 2;    // consecutive paths a thread
    int block = 128;  // threads
    // Shocks stay in memory until the way back, or are made again, which takes less time where the GPU's
    // hardware makes them.
    bool keeps_shocks = !program::is_fast(precision);
    int piece_steps = 8;  // a power of two, and no fewer than a block of random bits has numbers

    int paths_per_pass() const { return width * block; }
};
// The states that are carried from piece to piece: all that the way back is given, and what they depend on.
std::vector<std::uint32_t> carried_states(const program::adjoint_program& a);

// Whether a GPU can walk it. Derivatives to numbers of tables and to scenarios are found on the CPU.
bool has_kernel(const program::path_program& p, const program::adjoint_program& a);

// Kernels walk_both_ways and merge_derivatives.
std::string way_back_kernel_text(const program::path_program& p, const program::adjoint_program& a,
                                 const way_back_decision& how);
std::size_t way_back_shared_bytes();

}  // namespace tilewalk::cuda
