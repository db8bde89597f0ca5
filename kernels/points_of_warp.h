// SPDX-License-Identifier: Apache-2.0
// Points that the threads of a warp make together, for `width` neighbouring paths each.
#pragma once

#include "kernels/loops.h"
#include "kernels/point_arguments.h"
#include "kernels/sobol.h"

namespace tilewalk::kernels {

static constexpr word32 all_lanes = ~word32{0};
static word32 lane_of_thread() {
    return threadIdx.x % paths_of_warp;
}

static scramble of_lane(const scramble& x, word32 lane) {
    return {__shfl_sync(all_lanes, x.first, int(lane)), __shfl_sync(all_lanes, x.second, int(lane)),
            __shfl_sync(all_lanes, x.third, int(lane)), __shfl_sync(all_lanes, x.fourth, int(lane))};
}

// Bit-reversed coordinates of the points of a thread's paths; `index` is the first path's. Each lane looks at
// one bit of the index. Upper bits are the same for all paths of the warp.
template <int width>
static neighbours<word32, width> points_of_warp(const word32* directions, word32 index) {
    constexpr int bits_of_lane = 5,
                  bits_of_width = width == 1   ? 0
                                  : width == 2 ? 1
                                               : 2,
                  own_bits = bits_of_lane + bits_of_width;
    static_assert(1 << bits_of_width == width);
    const word32 lane = lane_of_thread(), direction = directions[lane];
    const bool counts = lane >= word32(own_bits) && (index >> lane & 1) != 0;
    word32 first = __reduce_xor_sync(all_lanes, counts ? direction : 0);
    for (int bit = 0; bit < bits_of_lane; ++bit)
        first ^= (0 - (lane >> bit & 1)) & __shfl_sync(all_lanes, direction, bit + bits_of_width);
    neighbours<word32, width> out;
    unrolled<width>([&](int w) { out.x[w] = first; });
    unrolled<bits_of_width>([&](int bit) {
        const word32 of_bit = __shfl_sync(all_lanes, direction, bit);
        unrolled<width>([&](int w) { out.x[w] ^= (w >> bit & 1) != 0 ? of_bit : 0; });
    });
    return out;
}

}  // namespace tilewalk::kernels
