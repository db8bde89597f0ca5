// SPDX-License-Identifier: Apache-2.0
// Part of the suite `random`: a trade with few quasi-random points, made in registers or read from rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/walk/tuning/workload.h"

namespace tilewalk::bench::normals {

// An Asian with `days` fixings in a year. Each fixing takes one dimension of the points.
tuning::workload asian_in_steps(program::precision in, int days);

std::vector<std::string> texts_of_points_of_paths();
void measure_points_of_paths(gpu_timer& on, std::uint64_t paths, const sink& to);

}  // namespace tilewalk::bench::normals
