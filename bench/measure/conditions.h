// SPDX-License-Identifier: Apache-2.0
// The three conditions under which prefetching pays: memory bandwidth is not saturated, warps stall on loads
// (ncu's long scoreboard), and no iteration waits for a load of another. ncu reads the first two from
// hardware counters; path kernels always meet the third.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"
#include "engine/walk/cuda/compile/feeds.h"

namespace tilewalk::bench {

// The suite of these rows of the suite prefetch, which have no time. Baselines leave them out.
inline constexpr std::string_view conditions_suite = "prefetch_conditions";

// From this share of the peak on, more loads gain nothing: a copy reaches 89 % on an H100 (2026-11-21).
inline constexpr double saturated_bandwidth = 0.8;
// Below this share of stalls, most cycles remain even if every load is hidden.
inline constexpr double least_stalled = 0.3;

// States whether more prefetching than the feed's can pay, and why not.
std::string verdict_on(const cuda::feed_entry& feed, double share_of_bandwidth, double share_of_time_stalled);

// The metrics requested from ncu, and the rows made from its counts. `walked` is the run under ncu, with one
// launch for each row that was not skipped. Throws tilewalk::error (input) if the two do not match.
std::vector<std::string> metrics_of_conditions();
std::vector<row> rows_of_conditions(const std::vector<std::vector<double>>& launches, const run& walked);

// The arguments of `tilewalk bench prefetch` that walk a few ways of a sweep once each, at its ends.
std::vector<std::string> few_ways_of(const request& asked, const std::string& subject,
                                     const std::string& precision);

// Passes on the rows, or one that says why there are none. Does nothing if there is no command to profile.
void read_conditions(gpu_timer& on, const request& asked, const std::string& subject,
                     const std::string& precision, const sink& to);

}  // namespace tilewalk::bench
