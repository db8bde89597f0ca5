// SPDX-License-Identifier: Apache-2.0
// What the kernels of the benchmark `memory` are told, and which places they read: a host makes from it what
// they must have seen.
#pragma once

#include "kernels/studies/content.h"

namespace tilewalk::kernels::studies {

struct memory_job {
    const void* from;  // words by content(), unless a kernel says otherwise
    const void* kept;
    word32* sums;  // one of each block
    word64 texture;
    word64 count, stride, offset, width;  // as each kernel says
    word32 reads;                         // of a thread
    word32 addresses;
};

// A chase: the word of a node tells where the next node begins. All of `nodes`, a power of two, are on the
// way, each once, in an order that no prefetcher guesses.
static constexpr word32 next_node(word32 node, word32 nodes) {
    return (node * 1664525u + 1013904223u) & (nodes - 1);
}
// A line of the caches a node; in constant memory less.
static constexpr word32 line_words = 32, constant_node_words = 16;

// The shared memory of a block of the study of strides, and the word that a lane reads as its n-th. All lanes
// move on by a whole number of rows of banks, so that the conflicts are those of the stride throughout.
static constexpr word32 shared_words = 4096;
static constexpr word32 shared_place(word32 lane, word32 n, word32 stride) {
    return lane * stride + n % 64 * 32;
}

// The word that a lane reads as its n-th, of a table of 256: so many addresses of a warp differ.
static constexpr word32 table_words = 256;
static constexpr word32 table_place(word32 lane, word32 n, word32 addresses) {
    return (n * 5 + lane % addresses * 8) % table_words;
}

// Elements of an array with a run-time index, and the one that is read as the n-th.
static constexpr word32 array_words = 32;
static constexpr word32 array_place(word32 n, word32 stride) {
    return n * stride % array_words;
}

// Texels of an image of `width`, by the order in which threads stand: row by row, or in patches of 8 by 4,
// one a warp.
static constexpr word64 patch_place(word64 i, word64 width) {
    const word64 patch = i / 32, across = width / 8;
    return (patch / across * 4 + i % 32 / 8) * width + patch % across * 8 + i % 8;
}

// Numbers of one thread that go to shared memory at once, and how often.
static constexpr int pieces_to_shared = 4, rounds_to_shared = 8;

// A read of what is kept for so many of what is streamed.
static constexpr int streamed_of_kept = 3;

}  // namespace tilewalk::kernels::studies
