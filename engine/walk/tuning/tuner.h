// SPDX-License-Identifier: Apache-2.0
// Finds the fastest way to build a path kernel by timing candidates on the kernel itself.
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
    cuda::kernel_decision untuned, best;  // best is untuned if no gain is worth it
    double untuned_milliseconds = 0, best_milliseconds = 0;
    std::size_t tried = 0, wrong = 0;  // candidates, and how many gave other bits
    double seconds = 0;                // spent on timing, without compilation
};

// Ways to build a kernel with shocks made or read as `asked`; first the one that runs without a tuner.
std::vector<cuda::kernel_decision> candidates(const cuda::kernel_wish& asked, const program::path_program& p,
                                              const cuda::fits_devices& fits);

// In every round all that are left are timed in turn, twice as often as in the round before, and the slower
// half goes. Ends after `seconds` with what is then the fastest. `take` times a launch of a candidate in
// milliseconds; empty if the sample does not count. Candidate 0 is always compared.
struct contest {
    std::size_t winner = 0;
    double winner_milliseconds = 0, first_milliseconds = 0;
};
contest halve(std::size_t count, const std::function<std::optional<double>(std::size_t)>& take,
              double seconds, const std::function<double()>& now);

// Ways to read kept shocks back, or to make them again; `by_rules` comes first.
std::vector<cuda::way_back_decision> candidates(const cuda::way_back_decision& by_rules, int slots);

// At most `warps` warps on a multiprocessor; 0: as many as fit.
outcome tune(gpu_timer& on, path_timer& kernel, const cuda::kernel_wish& asked, double seconds,
             int warps = 0);
outcome tune(gpu_timer& on, way_back_timer& kernel, const cuda::way_back_decision& by_rules, double seconds);

}  // namespace tilewalk::tuning
