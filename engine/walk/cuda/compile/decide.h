// SPDX-License-Identifier: Apache-2.0
// How kernels are built: from a wish to a decision for one that walks paths, and for one that walks a program
// both ways, with the memory that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/walk/cuda/compile/feeds.h"
#include "kernels/philox.h"
#include "products/program/adjoint.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// Whether devices can run such a kernel for `slots` shocks a step.
using fits_devices = std::function<bool(const kernel_decision&, int slots)>;

// `measured`, if any, was the fastest on such a device: taken if the wish is open and it fits.
kernel_decision decide(const kernel_wish& wish, const program::path_program& p, const fits_devices& fits,
                       const kernel_decision* measured = nullptr);

// Calls use(wish) for every setting of the feed's knobs. values(knob) lists what to try; empty: as wished.
template <class values_of, class body>
void for_each_setting(const feed_entry& feed, kernel_wish wish, const values_of& values, const body& use,
                      std::size_t from = 0) {
    if (from == knob_table.size()) return use(wish);
    const knob_id k{from};
    const bool is_there = k.line().of == knob::part::kernel || feed.makes_use_of(k);
    const std::span<const int> tried = is_there ? values(k) : std::span<const int>();
    if (tried.empty()) return for_each_setting(feed, wish, values, use, from + 1);
    for (const int value : tried) {
        wish[k] = value;
        for_each_setting(feed, wish, values, use, from + 1);
    }
}

kernel_decision with_presets(const kernel_wish& wish);

// "smem_rolling_async, distance 8, transposed, width 4, block 256"
std::string described(const kernel_decision& how);

// ---- both ways -------------------------------------------------------------------------------------------

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

// The memory of a block.
struct way_back_memory {
    std::uint32_t shared_bytes = 0;
    std::size_t piece_steps = 0;
    std::size_t carried = 0;           // states of a path kept for each piece
    std::size_t states_in_memory = 0;  // more of them, too many for shared memory
    std::size_t shocks_in_memory = 0;  // a path's, if made again and too many for shared memory
    // Shared memory: bytes of the feed or the reduction, of sums, and of states.
    std::size_t feed_bytes = 0, sum_bytes = 0, states_bytes = 0;
    bool has_quiet_pieces = false, holds_in_shared = false, holds_quietly = false, draws_to_shared = false;
};
// `carried` states of a path are kept from piece to piece of its steps, `carried_quietly` of them by quiet
// pieces too.
way_back_memory memory_of(const program::path_program& p, const program::adjoint_program& a,
                          std::size_t carried, std::size_t carried_quietly, const way_back_decision& how);

inline bool is_on_every_step(const program::path_program& p, std::size_t section) {
    return section == 0 || p.sections[section].is_on_every_step;
}

}  // namespace tilewalk::cuda
