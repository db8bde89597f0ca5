// SPDX-License-Identifier: Apache-2.0
// The memories of a GPU in one table: how fast each is, how far away, and what the ways to read it cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::memory {

// Every kernel that the suite runs.
std::vector<std::string> texts();

// How often shared memory is asked for what the lanes of a warp read so many words apart: lanes whose words
// stand in one of its 32 banks take turns.
int predicted_passes(int stride_words);

}  // namespace tilewalk::bench::memory
