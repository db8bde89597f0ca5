// SPDX-License-Identifier: Apache-2.0
// Random sources side by side: what of it needs no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/measure/suites.h"
#include "bench/measure/walk.h"
#include "products/program/precision.h"

namespace tilewalk::bench::normals {

// Paths of a cube of so many rows in double: as many as a quarter of the free memory takes, at most `most`,
// by halves of it; a tile at least.
std::uint64_t paths_for(std::uint64_t most, std::uint64_t rows, std::size_t free_bytes);

// Empty if the mean and the variance of these are within five standard errors of those of independent
// normals: right ones fail that for one seed in 870,000.
std::string why_not_normal(std::span<const double> sample);

// The Asian that every speed figure speaks of, with shocks made in registers, and walked from memory.
planned_walk inline_asian(program::precision p);
planned_walk streamed_asian(program::precision p);
// Its book, in YAML.
extern const char* const asian_book;

// The suite. cuRAND's device headers are looked for in these folders; without them its rows are skipped.
void measure(gpu_timer& on, std::span<const std::string> header_folders, const sink& to);

}  // namespace tilewalk::bench::normals
