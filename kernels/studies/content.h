// SPDX-License-Identifier: Apache-2.0
// The contents of memory in benchmarks: numbers by a formula, which the device writes and the host checks.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::studies {

// Word i of an array. No pattern repeats, so that a read from a wrong place shows.
static constexpr word32 content(word64 i) {
    word32 x = word32(i) * 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    return x ^ (x >> 13);
}

// Number i of an array of floats: evenly spread over [-2, 2).
static constexpr float single_content(word64 i) {
    return float(content(i) >> 8) * 0x1p-22f - 2.0f;
}

}  // namespace tilewalk::kernels::studies
