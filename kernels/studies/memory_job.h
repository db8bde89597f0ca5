// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of the benchmark `memory`, and the places that they read, so that hosts can check.
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

// The node after `node` in a chain that visits all `nodes`, a power of two, in an unpredictable order.
static constexpr word32 next_node(word32 node, word32 nodes) {
    return (node * 1664525u + 1013904223u) & (nodes - 1);
}
// Words of a node of a chain: a cache line; less in constant memory.
static constexpr word32 line_words = 32, constant_node_words = 16;

// For the study of strides in shared memory: the words of a block, and the n-th word that a lane reads. From
// one n to the next, all lanes go on by whole rows of banks, so conflicts are always those of the stride.
static constexpr word32 shared_words = 4096;
static constexpr word32 shared_place(word32 lane, word32 n, word32 stride) {
    return lane * stride + n % 64 * 32;
}

// The n-th word of a table that a lane reads. A warp reads `addresses` different words at a time.
static constexpr word32 table_words = 256;
static constexpr word32 table_place(word32 lane, word32 n, word32 addresses) {
    return (n * 5 + lane % addresses * 8) % table_words;
}

// The elements of a thread's own array with a run-time index, and the n-th element that it reads.
static constexpr word32 array_words = 32;
static constexpr word32 array_place(word32 n, word32 stride) {
    return n * stride % array_words;
}

// The texel of an image of `width` texels that thread i reads: each warp reads a patch of 8 by 4.
static constexpr word64 patch_place(word64 i, word64 width) {
    const word64 patch = i / 32, across = width / 8;
    return (patch / across * 4 + i % 32 / 8) * width + patch % across * 8 + i % 8;
}

// Pieces that one thread copies to shared memory at once, and how often it does.
static constexpr int pieces_to_shared = 4, rounds_to_shared = 8;

static constexpr int streamed_of_kept = 3;

}  // namespace tilewalk::kernels::studies
