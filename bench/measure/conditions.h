// SPDX-License-Identifier: Apache-2.0
// Measures the three conditions under which prefetching pays: memory bandwidth is not saturated, warps stall
// on loads (ncu's long scoreboard), and no load depends on an earlier step. ncu reads the first two from
// hardware counters; path kernels always meet the third.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"
#include "engine/walk/cuda/compile/feeds.h"

namespace tilewalk::bench {

// The suite name of rows with ncu's counts of `prefetch` kernels. Having no times, they join no comparison.
inline constexpr std::string_view conditions_suite = "prefetch_conditions";

// The share of peak bandwidth beyond which loads gain nothing; a copy reaches 89 % on an H100 (2026-11-21).
inline constexpr double saturated_bandwidth = 0.8;
// The share of stalls on loads below which most of the time would remain even if every load were hidden.
inline constexpr double least_stalled = 0.3;

// States in words whether more prefetching than this feed's can pay, and if not, why.
std::string verdict_on(const cuda::feed_entry& feed, double share_of_bandwidth, double share_of_time_stalled);

// Names of the metrics that ncu counts, and the rows made of its counts. `walked` is the benchmark run under
// ncu, with one launch for each row not skipped. Throws tilewalk::error (input) if the two do not match.
std::vector<std::string> metrics_of_conditions();
std::vector<row> rows_of_conditions(const std::vector<std::vector<double>>& launches, const run& walked);

// Options of `tilewalk bench prefetch` that walk the extreme widths and occupancies once, at one distance.
std::vector<std::string> few_ways_of(const request& asked, const std::string& subject,
                                     const std::string& precision);

// Passes on the rows, or one row that says why there are none. Does nothing if `asked.command` is empty.
void read_conditions(gpu_timer& on, const request& asked, const std::string& subject,
                     const std::string& precision, const sink& to);

}  // namespace tilewalk::bench
