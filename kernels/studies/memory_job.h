// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of the benchmark `memory`, and the places that they read, for checks.
#pragma once

#include "kernels/studies/content.h"

namespace tilewalk::kernels::studies {

struct memory_job {
    const void* from;  // words by content(), unless a kernel needs others
    const void* kept;
    word32* sums;  // one for each block
    word64 texture;
    word64 count, stride, offset, width;  // their meaning depends on the kernel
    word32 reads;                         // per thread
    word32 addresses;
};

// The word of a node is the place of the next. Visits all `nodes`, a power of two, in an unpredictable order.
static constexpr word32 next_node(word32 node, word32 nodes) {
    return (node * 1664525u + 1013904223u) & (nodes - 1);
}
// A node takes a cache line; in constant memory less.
static constexpr word32 line_words = 32, constant_node_words = 16;

// Shared memory of a block in the study of strides, and the n-th word that a lane reads. All lanes advance by
// whole rows of banks, so that conflicts are always those of the stride.
static constexpr word32 shared_words = 4096;
static constexpr word32 shared_place(word32 lane, word32 n, word32 stride) {
    return lane * stride + n % 64 * 32;
}

// The n-th word that a lane reads from a table, such that a warp reads `addresses` different addresses.
static constexpr word32 table_words = 256;
static constexpr word32 table_place(word32 lane, word32 n, word32 addresses) {
    return (n * 5 + lane % addresses * 8) % table_words;
}

// The elements of an array with a run-time index, and the n-th that is read.
static constexpr word32 array_words = 32;
static constexpr word32 array_place(word32 n, word32 stride) {
    return n * stride % array_words;
}

// Texels of an image of `width` in the order of threads, in patches of 8 by 4, one for each warp.
static constexpr word64 patch_place(word64 i, word64 width) {
    const word64 patch = i / 32, across = width / 8;
    return (patch / across * 4 + i % 32 / 8) * width + patch % across * 8 + i % 8;
}

// Numbers that one thread copies to shared memory at once, and the number of rounds.
static constexpr int pieces_to_shared = 4, rounds_to_shared = 8;

static constexpr int streamed_of_kept = 3;

}  // namespace tilewalk::kernels::studies
