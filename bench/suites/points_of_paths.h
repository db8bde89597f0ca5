// SPDX-License-Identifier: Apache-2.0
// The part of `random` that times a trade with few points: made in registers, or read from filled rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/walk/tuning/workload.h"

namespace tilewalk::bench::normals {

// An Asian over `days` days of a year, each of which takes a dimension.
tuning::workload asian_in_steps(program::precision in, int days);

std::vector<std::string> texts_of_points_of_paths();
void measure_points_of_paths(gpu_timer& on, std::uint64_t paths, const sink& to);

}  // namespace tilewalk::bench::normals
