// SPDX-License-Identifier: Apache-2.0
// Compares two arrays bit by bit on the GPU: downloading gigabytes would take longer than the measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/measure/timing.h"

namespace tilewalk::bench {

const std::string& compare_text();

// Counts the 4-byte words in which `a` and `b` differ. `bytes` must be a multiple of 4.
std::uint64_t differing_words(gpu_timer& on, const void* a, const void* b, std::size_t bytes);

}  // namespace tilewalk::bench
