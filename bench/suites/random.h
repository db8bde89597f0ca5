// SPDX-License-Identifier: Apache-2.0
// The parts of the suite `random` that need no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/measure/suites.h"
#include "bench/measure/walk.h"
#include "kernels/philox.h"
#include "products/program/precision.h"

namespace tilewalk::bench::normals {

// The paths of a cube of `rows` rows in double: `most`, halved to fit a quarter of free memory; at least a
// tile.
std::uint64_t paths_for(std::uint64_t most, std::uint64_t rows, std::size_t free_bytes);

// Empty if the mean and the variance of the sample are within five standard errors of those of independent
// normals; true normals fail this for one seed in 870,000.
std::string why_not_normal(std::span<const double> sample);

// The Asian behind every speed figure, with shocks made in registers, and walked from memory.
planned_walk inline_asian(program::precision p, int rounds = kernels::philox_rounds);
planned_walk streamed_asian(program::precision p);
extern const char* const asian_book;

// Measures the suite. Looks for cuRAND's device headers in these folders; without them its rows are skipped.
void measure(gpu_timer& on, std::span<const std::string> header_folders, const sink& to);

}  // namespace tilewalk::bench::normals
