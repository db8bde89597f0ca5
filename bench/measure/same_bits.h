// SPDX-License-Identifier: Apache-2.0
// Whether two arrays on a GPU hold the same bits, found out there: a download of gigabytes takes longer than
// what is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/measure/timing.h"

namespace tilewalk::bench {

// Its kernel `compare`, for gpu_timer::compile.
const std::string& compare_text();

// How many words of 4 bytes differ. `bytes` is a multiple of 4.
std::uint64_t differing_words(gpu_timer& on, const void* a, const void* b, std::size_t bytes);

}  // namespace tilewalk::bench
