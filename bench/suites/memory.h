// SPDX-License-Identifier: Apache-2.0
// The suite `memory`: rates, latencies and access costs of a GPU's memories in one table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::memory {

std::vector<std::string> texts();

// Passes of shared memory for lanes that read words so far apart: lanes in one of 32 banks take turns.
int predicted_passes(int stride_words);

}  // namespace tilewalk::bench::memory
