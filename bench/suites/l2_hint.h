// SPDX-License-Identifier: Apache-2.0
// The suite `l2_hint`: qualifiers that make a load fetch more to the L2 cache than it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::l2_hint {

// A way to read an array, measured without a qualifier and with three.
struct access {
    std::string instruction;  // "ld.global"
    int bytes;                // of one piece
    int pieces;               // per thread
    bool copies;              // asynchronous copies into shared memory

    std::uint64_t block_elements() const;
};
const std::vector<access>& accesses();
const std::vector<std::string>& hints();  // "none" and the qualifiers

std::string text_of(const access& a, const std::string& hint);

struct block_truth {
    double sum, bound;
};
block_truth truth_of_block(const access& a, std::uint64_t block);

}  // namespace tilewalk::bench::l2_hint
