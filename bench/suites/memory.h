// SPDX-License-Identifier: Apache-2.0
// The suite `memory`: the memories of a GPU in one table, with their rates, their latencies and the costs of
// the ways to read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::memory {

// The texts of all kernels of the suite.
std::vector<std::string> texts();

// The passes through shared memory for lanes that read words so many words apart: lanes whose words are in
// the same of its 32 banks take turns.
int predicted_passes(int stride_words);

}  // namespace tilewalk::bench::memory
