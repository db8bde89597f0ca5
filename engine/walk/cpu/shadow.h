// SPDX-License-Identifier: Apache-2.0
// The shadow sample shows, on a run's first tiles, how far single, single_fast or mixed is from double.
//
// The tiles are walked again in the run's precision (on a GPU if only a GPU has it) and in `mixed`, which has
// double's arithmetic on the same shocks. On each path only rounding differs, so a few paths show its effect,
// although the difference of two prices would be lost in their standard errors. Shadows of `double` and
// `mixed` are exactly zero. Tests of shocks cover what a shadow can't see: shocks in single are coarser than
// in double (24 bits instead of 53, the largest normal 6.76 instead of 8.57).
#pragma once

#include <cstdint>

#include "kernels/tile.h"
#include "kernels/tile_result.h"
#include "products/program/precision.h"

namespace tilewalk::cpu {

inline constexpr std::uint64_t shadow_tiles = 4;

// The precision with double's arithmetic on the same shocks as `of_run`.
constexpr program::precision shadow_precision(program::precision of_run) {
    return program::shock_type(of_run) == program::number_type::double_ ? program::precision::double_
                                                                        : program::precision::mixed;
}
constexpr std::uint64_t shadow_paths(std::uint64_t run_paths) {
    const std::uint64_t most = shadow_tiles * kernels::paths_per_tile;
    return run_paths < most ? run_paths : most;
}

struct shadow {
    // Mean of the run's arithmetic minus double's, over the sample. Infinite if only one of them is finite.
    double difference = 0;
    // The difference in standard errors of the whole run's price; should be far below 1. May be infinite.
    double in_standard_errors = 0;
};
shadow compare(const kernels::tile_result& sample, const kernels::tile_result& in_double,
               const kernels::tile_result& whole_run);

}  // namespace tilewalk::cpu
