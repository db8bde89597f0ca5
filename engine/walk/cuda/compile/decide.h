// SPDX-License-Identifier: Apache-2.0
// Settles how kernels are built. A wish, which may be open, becomes a decision: for a kernel that walks
// paths, and for one that walks a program forward and back, with the memory that it needs.
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

// Whether the devices can run a kernel built in this way, for `slots` shocks a step.
using fits_devices = std::function<bool(const kernel_decision&, int slots)>;

// `measured` is the fastest build found on such a device, or null; taken if it fits and the wish is open.
kernel_decision decide(const kernel_wish& wish, const program::path_program& p, const fits_devices& fits,
                       const kernel_decision* measured = nullptr);

// Calls use(wish) for all combinations of the feed's knobs. If values(knob) is empty, a knob stays as it is.
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

// A decision in words, such as "smem_rolling_async, distance 8, transposed, width 4, block 256".
std::string described(const kernel_decision& how);

// ---- walking both ways -----------------------------------------------------------------------------------

// How a kernel that walks forward and back is built. keeps_shocks, piece_steps and `reads` change no bit,
// except for the width in single_fast: derivatives are summed in single within a warp, in double beyond.
struct way_back_decision {
    program::precision precision = program::precision::double_;
    int rounds = kernels::philox_rounds;
    bool keeps_shocks = true;  // shocks are kept in memory for the way back, or else drawn again
    // Both ways read shocks from arrays, so nothing is kept or drawn.
    bool reads_arrays = false;
    // Steps of a piece: a power of two, at least the numbers in a block of random bits. 0 means 8, or 4 if
    // the states of 8 steps don't fit into shared memory.
    int piece_steps = 0;
    // The feed that reads kept shocks or arrays, with its knobs. Its width and block hold for both ways.
    kernel_decision reads{};

    bool reads_back() const { return keeps_shocks || reads_arrays; }
    int width() const { return reads[knobs::width]; }
    int block() const { return reads[knobs::block]; }
    int paths_per_pass() const { return width() * block(); }
};
// The fastest build as measured (bench/results/2026-11-25-NVIDIA-H200-ways-back-feeds.txt).
way_back_decision best_way_back(program::precision precision, int rounds, const program::path_program& p,
                                const program::adjoint_program& a);

// A wish that leaves open how kept shocks are read. Measured choices are stored under this wish.
kernel_wish open_wish_of(const way_back_decision& how);
// As `how`, but shocks are read back as `reads` says; if its feed reads none, they are drawn again.
way_back_decision read_by(way_back_decision how, const kernel_decision& reads);
// `a` and `b` must have the same precision.
bool have_same_bits(const way_back_decision& a, const way_back_decision& b);
way_back_decision for_arrays(way_back_decision how);

// The reason why a GPU can't walk the program both ways; empty if it can.
std::string why_no_kernel(const program::path_program& p, const program::adjoint_program& a);

// Memory of a block that walks both ways.
struct way_back_memory {
    std::uint32_t shared_bytes = 0;
    std::size_t piece_steps = 0;
    std::size_t carried = 0;           // states of a path that are kept at the start of each piece
    std::size_t states_in_memory = 0;  // states before a piece's steps that don't fit into shared memory
    std::size_t shocks_in_memory = 0;  // shocks of a path, if drawn again and too many for shared memory
    // Shares of shared_bytes: for the feed or the reduction, for sums, and for states.
    std::size_t feed_bytes = 0, sum_bytes = 0, states_bytes = 0;
    bool has_quiet_pieces = false, holds_in_shared = false, holds_quietly = false, draws_to_shared = false;
};
// `carried` states of a path are kept at the start of each piece, but only `carried_quietly` of them for
// pieces in which only the sections of every step run (quiet pieces).
way_back_memory memory_of(const program::path_program& p, const program::adjoint_program& a,
                          std::size_t carried, std::size_t carried_quietly, const way_back_decision& how);

inline bool is_on_every_step(const program::path_program& p, std::size_t section) {
    return section == 0 || p.sections[section].is_on_every_step;
}

}  // namespace tilewalk::cuda
