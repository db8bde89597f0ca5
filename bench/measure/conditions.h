// SPDX-License-Identifier: Apache-2.0
// The three conditions under which prefetching pays: the memory's bandwidth is not saturated, warps stall on
// loads (ncu's long scoreboard), and no iteration waits for a load of another. The first two are read from
// the hardware's counters by ncu. The third is a property of path kernels: the place of a shock follows from
// the step and the path's number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"
#include "engine/walk/cuda/compile/feeds.h"

namespace tilewalk::bench {

// The suite of these rows. They belong to the suite prefetch, but have no time. Comparison with a baseline
// leaves them out, because ncu may be there one night and not the next.
inline constexpr std::string_view conditions_suite = "prefetch_conditions";

// From this share of the memory's peak on, reading gains nothing from more loads: a plain copy reaches 89 %
// on an H100 (2.98 of 3.35 TB/s, 2026-11-21).
inline constexpr double saturated_bandwidth = 0.8;
// If stalls are below this share of the cycles between two instructions of a warp, most cycles remain even if
// every load is hidden.
inline constexpr double least_stalled = 0.3;

// Whether more prefetching than the feed does can pay, and why not.
std::string verdict_on(const cuda::feed_entry& feed, double share_of_bandwidth, double share_of_time_stalled);

// The metrics requested from ncu, and the rows made from its counts. `walked` is the run below ncu, with one
// launch for each of its rows that was not skipped. Throws tilewalk::error (input) if the two do not match.
std::vector<std::string> metrics_of_conditions();
std::vector<row> rows_of_conditions(const std::vector<std::vector<double>>& launches, const run& walked);

// The arguments of `tilewalk bench prefetch` that walk a few ways of a sweep once each: every feed at one
// distance and layout, at the ends of its widths and warps.
std::vector<std::string> few_ways_of(const request& asked, const std::string& subject,
                                     const std::string& precision);

// Passes on the rows, or one that says why there are none. Does nothing if there is no command to profile.
void read_conditions(gpu_timer& on, const request& asked, const std::string& subject,
                     const std::string& precision, const sink& to);

}  // namespace tilewalk::bench
