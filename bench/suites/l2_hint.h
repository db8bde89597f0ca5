// SPDX-License-Identifier: Apache-2.0
// The qualifiers by which a load asks the second-level cache for more than it reads itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::l2_hint {

// How an array is read; each is measured without a qualifier and with three.
struct access {
    std::string instruction;  // "ld.global"
    int bytes;                // of a piece
    int pieces;               // of a thread
    bool copies;              // into shared memory, asynchronously

    std::uint64_t block_elements() const;
};
const std::vector<access>& accesses();
const std::vector<std::string>& hints();  // "none" and the qualifiers

std::string text_of(const access& a, const std::string& hint);

// The sum of tanh over a block's part of the input, and by how much a kernel may miss it.
struct block_truth {
    double sum, bound;
};
block_truth truth_of_block(const access& a, std::uint64_t block);

}  // namespace tilewalk::bench::l2_hint
