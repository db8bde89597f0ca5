// SPDX-License-Identifier: Apache-2.0
// Correlated moves made ahead of the path kernel: the kernels there are for it, which one is right for a
// trade, whether it pays at all, and how one is launched. None of these changes a bit of a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/device.h"
#include "engine/cuda/kernel_choice.h"
#include "kernels/correlation/arguments.h"
#include "products/program/moves.h"

namespace tilewalk::cuda {

// How one kernel of kernels/correlation is built and launched.
struct correlation_variant {
    std::string_view name;       // "tiled_16_unrolled"
    std::string_view kind;       // its class, and the name of its header
    std::string_view constants;  // the arguments of its class after the types
    std::uint32_t threads = 0;   // of a block
    int rows = 0, paths = 0;     // factors and paths whose moves a block makes
    std::uint32_t shared_bytes_single = 0, shared_bytes_double = 0;

    std::uint32_t shared_bytes(precision p) const;
};
// Every variant, the plainest first.
std::span<const correlation_variant> correlation_variants();
// Throws tilewalk::error (usage) that names those there are.
const correlation_variant& find_correlation_variant(std::string_view name);
// What a run takes for so many factors.
const correlation_variant& best_correlation_variant(std::size_t factors);

// Factors from which on moves are made ahead where nobody says otherwise. On an H100 a basket of 12 dates and
// 2^20 paths in double took 2.9 ms with the product in its kernel at 24 assets, 8.0 at 48 and 33 at 64, where
// a thread's numbers no longer find room in registers. Made ahead it took 26.6 at 96: 9.6 of them, to fill
// and walk the arrays, grow as the assets do, and 17.0, of the matrix kernel, at most as their square, so
// more than 8.0 at 48 and less than 26.6 at 64 (bench/results/*-correlation.txt).
inline constexpr std::size_t correlation_crossover = 64;

// What the run setting `correlation` (auto, kernel or matrix) means for a program of so many factors whose
// moves can be taken out. Throws tilewalk::error (usage) for anything else.
bool makes_moves_ahead(std::string_view setting, std::size_t factors);

// The translation unit of a variant; its kernel is called `correlate` and takes one
// kernels::correlation::arguments.
std::string correlation_text(const correlation_variant& v, precision p);

// The drifts and roots of a trade as the kernel reads them, step after step.
std::vector<std::byte> correlation_numbers(const program::move_numbers& from, precision p);

// What is made: moves from shocks, both of `steps` steps.
struct correlation_job {
    const void* numbers = nullptr;                  // on the device, from the first of the steps on
    const void* shocks = nullptr;                   // row step * factors + i, from the first of the paths on
    void* moves = nullptr;                          // alike; must not overlap the shocks
    std::uint64_t shock_pitch = 0, move_pitch = 0;  // elements from row to row
    std::uint64_t paths = 0;
    std::size_t factors = 0, steps = 0;
};
// Bytes that a job's numbers and moves take on the device.
std::uint64_t correlation_numbers_bytes(std::size_t factors, std::size_t steps, precision p);
std::uint64_t correlation_moves_bytes(const correlation_job& job, precision p);

struct correlation_launch {
    launch how;
    kernels::correlation::arguments arguments;
};
// A job in as few launches as the device's limit on blocks allows.
std::vector<correlation_launch> correlation_launches(const correlation_job& job, const correlation_variant& v,
                                                     precision p, std::uint64_t most_blocks = (1u << 31) - 1);

// Puts the job into the stream; `k` is the kernel of the variant's text. Throws device_error.
void make_moves(device& on, kernel k, const correlation_variant& v, precision p, const correlation_job& job,
                stream s);

}  // namespace tilewalk::cuda
