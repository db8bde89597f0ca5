// SPDX-License-Identifier: Apache-2.0
// Shocks of paths that move towards targets: places on a few dates, which quasi-random points determine and
// an array holds. Between targets, paths move by independent normals drawn in registers. Same bits as a
// coarse bridge whose moves kernels/point_fill.h fills in, but memory holds a few steps instead of all.
#pragma once

#include "kernels/bridge.h"
#include "kernels/feeds/inline.h"

namespace tilewalk::kernels {

// Slots of normals that build no path: on a target's step, the array's number itself is their shock.
template <int... slots>
struct lone_slots {
    static constexpr bool has(int slot) { return ((slot == slots) || ...); }
};

// `drawn` is the source of random draws, `lone` the lone_slots.
template <class shape, class drawn, class lone>
struct draws_to_targets : drawn {
    using shock = typename shape::shock;
    static constexpr int slots = drawn::normals::count;

    const step_to_target<shock>* steps;
    const word32* targets_ahead;
    const shock* targets;  // row by target and slot, at the thread's first path
    word64 row_stride;

    template <class arguments, class trade_words>
    static draws_to_targets of(const arguments& a, word64 path, const trade_words& words) {
        return {drawn::of(a, path, words),
                static_cast<const step_to_target<shock>*>(a.steps_to_targets) + words.target_step,
                a.targets_ahead + words.target_step,
                static_cast<const shock*>(a.normal.first) + words.normal_row * a.normal.slot_stride +
                    (path - a.first_path),
                a.normal.slot_stride};
    }

    struct brought {
        step_to_target<shock> step;
        shock target[word32(shape::width)][word32(slots)];
    };
    class turn {
      public:
        static constexpr bool reads_memory = true, makes_normals = false;

        template <class memory>
        static constexpr brought bring(const draws_to_targets& from, const memory& at, int step) {
            using piece = pieces<shape>;
            brought out;
            out.step = numbers_of(at, from.steps + step);
            const word32 target = at.template load<word32>(from.targets_ahead + step);
            const shock* const row = from.targets + word64(target * word32(slots)) * from.row_stride;
            unrolled<slots>([&](int slot) {
                unrolled<piece::count>([&](int k) {
                    const auto got = at.template load<typename piece::type>(
                        row + (word64(slot) * from.row_stride + word64(k * piece::paths)));
                    unrolled<piece::paths>([&](int w) { out.target[k * piece::paths + w][slot] = got.x[w]; });
                });
            });
            return out;
        }
        constexpr void move(const draws_to_targets&, const brought& by, shocks_of_step<shape>& z) {
            unrolled<shape::width>([&](int w) {
                spelled_out<slots>([&](int slot) {
                    const shock own = z[w][slot], target = by.target[w][slot];
                    if (lone::has(slot)) {
                        z[w][slot] = by.step.deviation == 0 ? target : own;
                        return;
                    }
                    const shock before = here_[w][slot];
                    here_[w][slot] = place_between(by.step.by_left, before, by.step.by_right, target,
                                                   by.step.deviation, own);
                    z[w][slot] = move_between(before, here_[w][slot], by.step.inverse_root);
                });
            });
        }

      private:
        template <class memory>
        static constexpr step_to_target<shock> numbers_of(const memory& at,
                                                          const step_to_target<shock>* from) {
            constexpr int in_piece = 16 / int(sizeof(shock)), pieces_of_step = 4 / in_piece;
            using piece = neighbours<shock, in_piece>;
            const shock* const first = &from->by_left;
            shock x[4];
            unrolled<pieces_of_step>([&](int k) {
                const piece got = at.template load<piece>(first + k * in_piece);
                unrolled<in_piece>([&](int i) { x[k * in_piece + i] = got.x[i]; });
            });
            return {x[0], x[1], x[2], x[3]};
        }

        shock here_[word32(shape::width)][word32(slots)]{};
    };
};

}  // namespace tilewalk::kernels
