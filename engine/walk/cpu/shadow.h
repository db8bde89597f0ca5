// SPDX-License-Identifier: Apache-2.0
// The shadow sample shows, on a run's first tiles, how far single, single_fast or mixed is from double.
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
