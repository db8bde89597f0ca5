// SPDX-License-Identifier: Apache-2.0
// The shadow sample: how far the arithmetic of a run in single, single_fast or mixed precision leads away
// from double, told by the run's first tiles.
//
// They are walked a second time in double from the very shocks of the run (the same random bits, made into
// single's normals and uniforms and then converted), so that path by path nothing differs but rounding: a
// few paths show it, where the difference of two prices would be lost in their standard errors. A shadow so
// tells nothing about the distribution of single's shocks, which are coarser than double's (24 bits instead
// of 53, the largest normal 6.76 instead of 8.57): that is what tests of the shocks are for. By construction
// nothing differs in `double` and `mixed`, whose arithmetic is double: their shadow is exactly 0.
//
// On the CPU:
//
//     std::vector<path_job> jobs{sample_of(job), shadow_of(job)};   // of every trade, beside the run's own
//     const auto r = walk_all(jobs, ...);
//     row.shadow_difference = compare(r[0], r[1], whole_run).difference;
//
// For a run on a GPU sample_of(job) is not walked: the GPU's results of tiles 0 to shadow_tiles - 1 (or of as
// many as there are), merged by kernels::merge_tiles, stand in its place. The job of a run in single_fast may
// be handed to shadow_of as it is.
#pragma once

#include <cstdint>

#include "engine/cpu/lane_machine.h"

namespace tilewalk::cpu {

inline constexpr std::uint64_t shadow_tiles = 4;

// The first tiles of the run, as the run walks them.
path_job sample_of(const path_job& run);
// The same tiles in double arithmetic, from the same shocks.
path_job shadow_of(const path_job& run);

struct shadow {
    // The mean of the run's arithmetic less that of double's, over the sample. Infinite where the one gave
    // numbers that are not finite and the other did not.
    double difference = 0;
    // The same in standard errors of the whole run's price: far below 1, or the precision is too small for
    // the trade. Infinite for a difference where there is no standard error.
    double in_standard_errors = 0;
};
shadow compare(const tile_result& sample, const tile_result& in_double, const tile_result& whole_run);

}  // namespace tilewalk::cpu
