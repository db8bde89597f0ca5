// SPDX-License-Identifier: Apache-2.0
// A comparison of two arrays on a GPU, bit by bit, made there: a download of gigabytes takes longer than the
// measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/measure/timing.h"

namespace tilewalk::bench {

// The text of the kernel `compare`, for gpu_timer::compile.
const std::string& compare_text();

// The number of words of 4 bytes that differ. `bytes` is a multiple of 4.
std::uint64_t differing_words(gpu_timer& on, const void* a, const void* b, std::size_t bytes);

}  // namespace tilewalk::bench
