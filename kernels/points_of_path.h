// SPDX-License-Identifier: Apache-2.0
// Normal shocks of paths that take few quasi-random numbers, computed in registers. Same bits as rows filled
// by point_fill.h. The table of normals is read through the L1 cache: half of all numbers need one octave.
#pragma once

#include "kernels/feeds/inline.h"
#include "kernels/points_of_warp.h"

namespace tilewalk::kernels {

// `drawn` is the source of shocks that are drawn at random; a program with these points has none.
template <class shape, class drawn>
struct draws_of_points : drawn {
    using shock = typename shape::shock;
    static constexpr int slots = drawn::normals::count, width = shape::width;

    const word32* directions;
    normal_table<shock> normals_of;
    word32 index;
    word32 dimension;
    scramble own;

    template <class arguments, class trade_words>
    static draws_of_points of(const arguments& a, word64 path, const trade_words& words) {
        const made_point mine = a.made_points[words.normal_row + lane_of_thread()];
        const word32 randomisation = word32(path / a.paths_of_randomisation),
                     index = word32(path % a.paths_of_randomisation);
        return {drawn::of(a, path, words),
                a.directions,
                *static_cast<const normal_table<shock>*>(a.normals_of_points),
                index,
                mine.dimension,
                scramble_of(a.seed, randomisation, mine.dimension, mine.factor)};
    }

    // Makes the shocks of a step, by a whole warp, so that its threads must take each step together.
    struct turn {
        static constexpr bool reads_memory = true, makes_normals = true;
        struct brought {
            neighbours<shock, width> of[word32(slots)];
        };
        template <class memory>
        static constexpr brought bring(const draws_of_points& from, const memory&, int step) {
            brought out;
            unrolled<slots>([&](int slot) {
                const word32 number = word32(step * slots + slot);
                const word32 dimension = __shfl_sync(all_lanes, from.dimension, int(number));
                const scramble by = of_lane(from.own, number);
                const auto points =
                    points_of_warp<width>(from.directions + word64(dimension) * bits_of_index, from.index);
                const auto normals = [&](const normal_place<shock>& at) {
                    return normal_of(from.normals_of, at);
                };
                unrolled<width>([&](int w) {
                    out.of[slot].x[w] = shock_of_point<shock_kind::normal, shock>(points.x[w], by, normals);
                });
            });
            return out;
        }
        static constexpr void move(const draws_of_points&, const brought& by, shocks_of_step<shape>& z) {
            unrolled<width>(
                [&](int w) { spelled_out<slots>([&](int slot) { z[w][slot] = by.of[slot].x[w]; }); });
        }
    };
};

}  // namespace tilewalk::kernels
