// SPDX-License-Identifier: Apache-2.0
// Correlated moves made ahead of the path kernel. No choice changes a bit of a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/device/device.h"
#include "kernels/correlation/arguments.h"
#include "products/program/moves.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

using program::precision;

struct correlation_variant {
    std::string_view name;       // "tiled_16_unrolled"
    std::string_view kind;       // its class, and the name of its header
    std::string_view constants;  // the arguments of its class after the types
    std::uint32_t threads = 0;   // per block
    int rows = 0, paths = 0;     // factors and paths whose moves one block makes
    std::uint32_t shared_bytes_single = 0, shared_bytes_double = 0;

    std::uint32_t shared_bytes(precision p) const;
};
// The plainest first.
std::span<const correlation_variant> correlation_variants();
// Throws tilewalk::error (usage) that names the known variants.
const correlation_variant& find_correlation_variant(std::string_view name);
const correlation_variant& best_correlation_variant(std::size_t factors);

// With `auto`, moves are made ahead from this many factors on. On an H100 a basket of 12 dates and 2^20 paths
// in double took 2.9 ms with the product in its kernel at 24 assets, 8.0 at 48 and 33 at 64, where a thread's
// numbers no longer fit into registers. Made ahead it took 26.6 at 96: 9.6 to fill and walk the arrays,
// linear in the assets, and 17.0 for the matrix kernel, at most quadratic. At 64 it takes between 8.0 and
// 26.6 (bench/results/*-correlation.txt).
inline constexpr std::size_t correlation_crossover = 64;

// `setting` is auto, kernel or matrix; throws tilewalk::error (usage) for any other.
bool makes_moves_ahead(std::string_view setting, std::size_t factors);

// Kernel `correlate` with one kernels::correlation::arguments.
std::string correlation_text(const correlation_variant& v, precision p);

// A trade's drifts and roots in the kernel's order, step by step.
std::vector<std::byte> correlation_numbers(const program::move_numbers& from, precision p);

struct correlation_job {
    const void* numbers = nullptr;                  // on the device, at the first of the steps
    const void* shocks = nullptr;                   // row step * factors + i, at the first of the paths
    void* moves = nullptr;                          // rows as in shocks, no overlap
    std::uint64_t shock_pitch = 0, move_pitch = 0;  // elements from row to row
    std::uint64_t paths = 0;
    std::size_t factors = 0, steps = 0;
};
std::uint64_t correlation_numbers_bytes(std::size_t factors, std::size_t steps, precision p);
std::uint64_t correlation_moves_bytes(const correlation_job& job, precision p);

struct correlation_launch {
    launch how;
    kernels::correlation::arguments arguments;
};
// The fewest launches that the device's limit on blocks allows.
std::vector<correlation_launch> correlation_launches(const correlation_job& job, const correlation_variant& v,
                                                     precision p, std::uint64_t most_blocks = (1u << 31) - 1);

// `k` must be the kernel of correlation_text(v, p). Throws device_error.
void make_moves(device& on, kernel k, const correlation_variant& v, precision p, const correlation_job& job,
                stream s);

}  // namespace tilewalk::cuda
