// SPDX-License-Identifier: Apache-2.0
// Parts of the suite `random` that need no GPU.
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

// The number of paths for a cube of doubles with `rows` rows: `most`, halved until the cube fits a quarter of
// the free memory, but at least a tile.
std::uint64_t paths_for(std::uint64_t most, std::uint64_t rows, std::size_t free_bytes);

// Says if the sample's mean or variance is further than five standard errors from that of independent
// normals, as true normals are for one seed in 870,000; empty if not.
std::string why_not_normal(std::span<const double> sample);

// The Asian behind every speed figure, with shocks drawn in registers, and with shocks read from memory.
planned_walk inline_asian(program::precision p, int rounds = kernels::philox_rounds);
planned_walk streamed_asian(program::precision p);
extern const char* const asian_book;

// Measures the whole suite. Rows of cuRAND's device API are skipped if no folder has its headers.
void measure(gpu_timer& on, std::span<const std::string> header_folders, const sink& to);

}  // namespace tilewalk::bench::normals
