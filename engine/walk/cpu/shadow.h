// SPDX-License-Identifier: Apache-2.0
// The shadow sample: how far the arithmetic of a run in single, single_fast or mixed precision is from
// double, shown by the run's first tiles.
//
// They are walked a second time in double from the very shocks of the run (the same random bits, made into
// single's normals and uniforms and then converted), so that path by path nothing differs but rounding. A few
// paths show it, although the difference of two prices would be lost in their standard errors. A shadow says
// nothing about the distribution of single's shocks, which are coarser than double's (24 bits instead of 53,
// the largest normal 6.76 instead of 8.57); tests of the shocks cover that. Nothing can differ in `double`
// and `mixed`, whose arithmetic is double: their shadow is exactly 0.
//
// The first tiles of a run are walked again in its precision, or on a GPU if only a GPU has it, and in
// `mixed`, which is double's arithmetic on the same shocks.
#pragma once

#include <cstdint>

#include "kernels/tile.h"
#include "kernels/tile_result.h"
#include "products/program/precision.h"

namespace tilewalk::cpu {

inline constexpr std::uint64_t shadow_tiles = 4;

// The precision with double's arithmetic on the shocks of a run in this precision.
constexpr program::precision shadow_precision(program::precision of_run) {
    return program::shock_type(of_run) == program::number_type::double_ ? program::precision::double_
                                                                        : program::precision::mixed;
}
constexpr std::uint64_t shadow_paths(std::uint64_t run_paths) {
    const std::uint64_t most = shadow_tiles * kernels::paths_per_tile;
    return run_paths < most ? run_paths : most;
}

struct shadow {
    // The mean of the run's arithmetic less that of double's, over the sample. Infinite if only one of them
    // gave numbers that are not finite.
    double difference = 0;
    // The difference in standard errors of the whole run's price; unless it is far below 1, the precision is
    // too small for the trade. Infinite for a difference without a standard error.
    double in_standard_errors = 0;
};
shadow compare(const kernels::tile_result& sample, const kernels::tile_result& in_double,
               const kernels::tile_result& whole_run);

}  // namespace tilewalk::cpu
