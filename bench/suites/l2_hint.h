// SPDX-License-Identifier: Apache-2.0
// The suite `l2_hint`: qualifiers (hints) of a load that make the L2 cache fetch more than the load reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::l2_hint {

// A way to read an array. Each is measured without a hint and with three hints.
struct access {
    std::string instruction;  // such as "ld.global"
    int bytes;                // bytes of one load
    int pieces;               // loads per thread
    bool copies;              // copies asynchronously to shared memory first

    std::uint64_t block_elements() const;
};
const std::vector<access>& accesses();
const std::vector<std::string>& hints();  // "none" and the three qualifiers

std::string text_of(const access& a, const std::string& hint);

struct block_truth {
    double sum, bound;
};
block_truth truth_of_block(const access& a, std::uint64_t block);

}  // namespace tilewalk::bench::l2_hint
