// SPDX-License-Identifier: Apache-2.0
// The stream of random numbers that each slot of a step draws from, as constants of a kernel.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

// In step s, a slot takes number s * dimensions + dimension of its stream. Streams are numbered in the order
// of their first slots.
template <int... streams_>
struct stream_slots {
    static constexpr int count = int(sizeof...(streams_));

  private:
    struct table {
        int stream[word32(count + 1)]{};
        int dimension[word32(count + 1)]{};
        int dimensions[word32(count + 1)]{};  // by stream
        int streams = 0;
    };
    static constexpr table made() {
        table t{{streams_..., 0}, {}, {}, 0};
        for (int slot = 0; slot < count; ++slot) {
            t.dimension[slot] = t.dimensions[t.stream[slot]]++;
            if (t.stream[slot] >= t.streams) t.streams = t.stream[slot] + 1;
        }
        return t;
    }

  public:
    static constexpr int streams() {
        constexpr table t = made();
        return t.streams;
    }
    // One stream, as in most programs, needs no look-up, which NVRTC would do in memory if it unrolls late.
    static constexpr int stream_of(int slot) {
        if constexpr (streams() == 1) return 0;
        constexpr table t = made();
        return t.stream[slot];
    }
    static constexpr int dimension_of(int slot) {
        if constexpr (streams() == 1) return slot;
        constexpr table t = made();
        return t.dimension[slot];
    }
    static constexpr int dimensions(int stream) {
        if constexpr (streams() == 1) return count;
        constexpr table t = made();
        return t.dimensions[stream];
    }
};

namespace detail {
template <int count, int... zeros>
struct of_one_stream : of_one_stream<count - 1, 0, zeros...> {};
template <int... zeros>
struct of_one_stream<0, zeros...> {
    using type = stream_slots<zeros...>;
};
}  // namespace detail

template <int count>
using one_stream = typename detail::of_one_stream<count>::type;

// Words at the start of a trade's words: two for the key of each stream of normals, then of uniforms.
template <class normals, class uniforms>
static constexpr word32 words_of_keys = word32(2 * (normals::streams() + uniforms::streams()));

}  // namespace tilewalk::kernels
