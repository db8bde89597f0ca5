// SPDX-License-Identifier: Apache-2.0
// Finds the fastest way to build a kernel, by timing candidates on the workload itself.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/tuning/gpu_timer.h"
#include "engine/walk/tuning/path_timer.h"
#include "engine/walk/tuning/way_back_timer.h"

namespace tilewalk::tuning {

struct outcome {
    cuda::kernel_decision untuned, best;  // `best` is `untuned` if no gain is worth it
    double untuned_milliseconds = 0, best_milliseconds = 0;
    std::size_t tried = 0, wrong = 0;  // candidates tried, and those that gave other bits
    double seconds = 0;                // of timing, without compilation
};

// Decisions to try for a wish. The first is the one that runs without a tuner.
std::vector<cuda::kernel_decision> candidates(const cuda::kernel_wish& asked, const program::path_program& p,
                                              const cuda::fits_devices& fits);

// Times candidates in rounds: each round times all that are left in turn, twice as often as the last, and
// drops the slower half. After `seconds` the fastest so far wins. take(candidate) gives milliseconds of a
// launch; empty if the sample must not count. At the end the winner is compared with candidate 0.
struct contest {
    std::size_t winner = 0;
    double winner_milliseconds = 0, first_milliseconds = 0;
};
contest halve(std::size_t count, const std::function<std::optional<double>(std::size_t)>& take,
              double seconds, const std::function<double()>& now);

// Decisions to try for reading kept shocks back or drawing them again. The first is `by_rules`.
std::vector<cuda::way_back_decision> candidates(const cuda::way_back_decision& by_rules, int slots);

// Tunes a path kernel with at most `warps` warps on a multiprocessor; 0: as many as fit.
outcome tune(gpu_timer& on, path_timer& kernel, const cuda::kernel_wish& asked, double seconds,
             int warps = 0);
outcome tune(gpu_timer& on, way_back_timer& kernel, const cuda::way_back_decision& by_rules, double seconds);

}  // namespace tilewalk::tuning
