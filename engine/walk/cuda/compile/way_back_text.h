// SPDX-License-Identifier: Apache-2.0
// The kernel that walks a program both ways, and its merge: how it is built, its text, its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "kernels/philox.h"
#include "products/program/adjoint.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

// Constants of the text besides the programs. keeps_shocks, piece_steps and `reads` change no bit, except the
// width in single_fast: derivatives of a warp's paths are summed in single, those of warps in double.
struct way_back_decision {
    program::precision precision = program::precision::double_;
    int rounds = kernels::philox_rounds;
    bool keeps_shocks = true;  // in memory until the way back; else made again
    // Both ways read shocks from arrays; nothing is kept or made.
    bool reads_arrays = false;
    // Steps of a piece: a power of two, at least the numbers in a block of random bits; 0: 8, or 4 if the
    // states of 8 are too many for shared memory.
    int piece_steps = 0;
    // The feed that reads kept shocks or arrays, with its knobs; width and block hold for both ways.
    kernel_decision reads{};

    bool reads_back() const { return keeps_shocks || reads_arrays; }
    int width() const { return reads[knobs::width]; }
    int block() const { return reads[knobs::block]; }
    int paths_per_pass() const { return width() * block(); }
};
// The fastest as measured (bench/results/2026-11-25-NVIDIA-H200-ways-back-feeds.txt).
way_back_decision best_way_back(program::precision precision, int rounds, const program::path_program& p,
                                const program::adjoint_program& a);

// Leaves open how kept shocks are read. Measured choices are kept under this wish.
kernel_wish open_wish_of(const way_back_decision& how);
// Changes how shocks are read; with a feed that reads none, they are made again.
way_back_decision read_by(way_back_decision how, const kernel_decision& reads);
// Requires the same precision.
bool have_same_bits(const way_back_decision& a, const way_back_decision& b);
way_back_decision for_arrays(way_back_decision how);

// Empty if a GPU can walk the program.
std::string why_no_kernel(const program::path_program& p, const program::adjoint_program& a);

struct way_back_kernel {
    std::string text;
    std::uint32_t shared_bytes = 0;
    std::size_t piece_steps = 0;
    std::size_t carried = 0;           // states of a path kept for each piece
    std::size_t states_in_memory = 0;  // more of them, too many for shared memory
    std::size_t shocks_in_memory = 0;  // a path's, if made again and too many for shared memory
};
way_back_kernel way_back_kernel_of(const program::path_program& p, const program::adjoint_program& a,
                                   const way_back_decision& how);

}  // namespace tilewalk::cuda
