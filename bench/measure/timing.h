// SPDX-License-Identifier: Apache-2.0
// Timings in benchmark suites, taken as the kernel tuner takes them, and their figures for rows.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/measure/row.h"
#include "engine/walk/tuning/gpu_timer.h"
#include "engine/walk/tuning/path_timer.h"
#include "engine/walk/tuning/workload.h"

namespace tilewalk::bench {

using tuning::clock_state;
using tuning::clock_throttled;
using tuning::clocks;
using tuning::gpu_timer;
using tuning::measure;
using tuning::measurement;
using tuning::open_clocks;
using tuning::path_timer;
using tuning::paths_to_time;
using tuning::sampler;
using tuning::seconds_now;
using tuning::stop_rule;
using tuning::summarise;
using tuning::summary;
using tuning::workload;

// Facts about the device, the driver, the clocks and the build, for run::about.
json about(gpu_timer& on);

// The figures of a timing for a row: milliseconds, p10, p90, noise, samples; dropped and clock_mhz if known.
json figures_of(const gpu_timer::timing& t);

// Figures for a row: price and standard_error of the first trade, and not_finite if some payoffs were not.
json price_figures(const std::vector<kernels::tile_result>& tiles, std::size_t tiles_of_trade);

}  // namespace tilewalk::bench
