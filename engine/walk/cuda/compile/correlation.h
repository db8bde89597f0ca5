// SPDX-License-Identifier: Apache-2.0
// Correlated moves (drift + root of the covariance * normals), computed by a matrix kernel before the path
// kernel runs. Every variant of the kernel gives the same bits.
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
    std::string_view name;       // such as "tiled_16_unrolled"
    std::string_view kind;       // the kernel's class template, also the name of its header
    std::string_view constants;  // template arguments after the types
    std::uint32_t threads = 0;   // per block
    int rows = 0, paths = 0;     // factors and paths for which one block computes moves
    std::uint32_t shared_bytes_single = 0, shared_bytes_double = 0;

    std::uint32_t shared_bytes(precision p) const;
};
// All variants of the matrix kernel, the simplest first.
std::span<const correlation_variant> correlation_variants();
// Throws tilewalk::error (usage), naming the known variants.
const correlation_variant& find_correlation_variant(std::string_view name);
const correlation_variant& best_correlation_variant(std::size_t factors);

// The number of factors from which setting `auto` computes moves before the path kernel. On an H200, a basket
// of 12 dates and 2^20 paths took, with the product in the path kernel and before it, in milliseconds: in
// double 4.9 and 5.9 for 32 assets, 18.8 and 8.9 for 40, 50.5 and 14.7 for 64; in single 4.8 and 5.8 for
// 40, 14.3 and 6.8 for 48 (bench/results/2026-12-01-NVIDIA-H200-correlation.txt). From there on a thread's
// numbers no longer fit into registers.
std::size_t correlation_crossover(precision p);

// `setting` is auto, kernel (never) or matrix (always); throws tilewalk::error (usage) for any other.
bool makes_moves_ahead(std::string_view setting, std::size_t factors, precision p);

// Text of a kernel named `correlate`, whose argument is a kernels::correlation::arguments.
std::string correlation_text(const correlation_variant& v, precision p);

// A trade's drifts and roots, in the order in which the kernel reads them, step by step.
std::vector<std::byte> correlation_numbers(const program::move_numbers& from, precision p);

struct correlation_job {
    const void* numbers = nullptr;  // numbers of the first step, on the device
    const void* shocks = nullptr;   // shock i of a step at row step * factors + i; points to the first path
    void* moves = nullptr;          // same rows as `shocks`; must not overlap them
    std::uint64_t shock_pitch = 0, move_pitch = 0;  // elements from one row to the next
    std::uint64_t paths = 0;
    std::size_t factors = 0, steps = 0;
};
std::uint64_t correlation_numbers_bytes(std::size_t factors, std::size_t steps, precision p);
std::uint64_t correlation_moves_bytes(const correlation_job& job, precision p);

struct correlation_launch {
    launch how;
    kernels::correlation::arguments arguments;
};
// Splits a job into as few launches as the device's limit on blocks allows.
std::vector<correlation_launch> correlation_launches(const correlation_job& job, const correlation_variant& v,
                                                     precision p, std::uint64_t most_blocks = (1u << 31) - 1);

// Launches kernel `k`, which must be compiled from correlation_text(v, p). Throws device_error.
void make_moves(device& on, kernel k, const correlation_variant& v, precision p, const correlation_job& job,
                stream s);

}  // namespace tilewalk::cuda
