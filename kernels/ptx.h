// SPDX-License-Identifier: Apache-2.0
// What a thread of a GPU does that C++ has no words for. The only header of kernels/ that no host compiler
// reads.
#pragma once

#include "kernels/arguments.h"
#include "kernels/feeds/feed.h"

namespace tilewalk::kernels {

// Through the read-only path: for memory that no thread of the launch writes.
static word32 load_read_only(const word32* from) {
    return __ldg(from);
}

// Spaces: how a thread reads an array that stands in global memory (or is mapped into it), or elsewhere.
namespace spaces {

// Vectors of 8 and 16 bytes go in one load.
template <class value>
static value load_plain(const value* from) {
    if constexpr (sizeof(value) == 16) {
        return __builtin_bit_cast(value, *reinterpret_cast<const uint4*>(from));
    } else if constexpr (sizeof(value) == 8) {
        return __builtin_bit_cast(value, *reinterpret_cast<const uint2*>(from));
    } else {
        return *from;
    }
}

struct global {
    template <class value>
    static value load(const value* from) {
        return load_plain(from);
    }
};

struct read_only {
    template <class value>
    static value load(const value* from) {
        if constexpr (sizeof(value) == 16) {
            return __builtin_bit_cast(value, __ldg(reinterpret_cast<const uint4*>(from)));
        } else if constexpr (sizeof(value) == 8) {
            return __builtin_bit_cast(value, __ldg(reinterpret_cast<const uint2*>(from)));
        } else {
            return __builtin_bit_cast(value, __ldg(reinterpret_cast<const word32*>(from)));
        }
    }
};

}  // namespace spaces

// The numbers of a trade, alike for all paths, in global memory.
template <class real, class space>
struct numbers_in_memory {
    const real* first;

    static numbers_in_memory of(const path_arguments& a, word64 at) {
        return {static_cast<const real*>(a.numbers) + at};
    }
    numbers_in_memory from(word64 offset) const { return {first + offset}; }
    real operator[](int i) const { return space::load(first + i); }
};

// Shocks in memory, seen by the thread whose first path is `path`.
template <class shape, int normals>
struct arrays {
    using shock = typename shape::shock;
    static array_source<shape, normals> of(const path_arguments& a, word64 path) {
        return {one(a.normal, path - a.first_path), one(a.uniform, path - a.first_path)};
    }

  private:
    static shock_array<shock> one(const array_argument& from, word64 offset) {
        return {static_cast<const shock*>(from.first) + offset, from.step_stride, from.slot_stride};
    }
};

// What a feed asks of memory.
template <class space>
struct thread_memory {
    char* shared;  // of the block, for the feed
    int thread;

    static thread_memory of(const path_arguments&, char* shared) { return {shared, int(threadIdx.x)}; }

    template <int count, class element>
    neighbours<element, count> load(const element* from) const {
        return space::load(reinterpret_cast<const neighbours<element, count>*>(from));
    }
};

}  // namespace tilewalk::kernels
