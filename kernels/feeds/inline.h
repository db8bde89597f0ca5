// SPDX-License-Identifier: Apache-2.0
// No array at all: the shocks are made in registers. The steps are unrolled as far as it takes for a block of
// random bits to begin with a step.
#pragma once

#include "kernels/feeds/feed.h"
#include "kernels/shocks.h"

namespace tilewalk::kernels::feeds {

// Where the shocks of a thread come from.
template <class draws_type, int normals_, int uniforms_>
struct random_draws {
    using draws = draws_type;
    static constexpr int normals = normals_, uniforms = uniforms_;
    const philox_schedule& keys;
    word64 path;  // the first of the thread's

    template <class arguments>
    static random_draws of(const arguments& a, word64 path) {
        return {a.keys, path};
    }
};

template <class shape, class memory>
struct inline_ {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory, const body& use) {
        using draws = typename source::draws;
        constexpr int per_block = draws::per_block;
        constexpr int normals = source::normals, uniforms = source::uniforms;
        constexpr int period =
            max_of(steps_to_align(normals, per_block), steps_to_align(uniforms, per_block));
        typename draws::block normal[shape::width]{}, uniform[shape::width]{};
        rolled(0, (steps + period - 1) / period, [&](int group) {
            unrolled<period>([&](int k) {
                const int step = group * period + k;
                if (step >= steps) return;
                shocks_of_step<shape> z{};
                unrolled<shape::width>([&](int w) {
                    unrolled<normals>([&](int slot) {
                        const int number = k * normals + slot;
                        if (number % per_block == 0) {
                            normal[w] = draws::normals(
                                from.keys, from.path + word64(w),
                                word32(group * (period * normals / per_block) + number / per_block));
                        }
                        z[w][slot] = normal[w].x[number % per_block];
                    });
                    unrolled<uniforms>([&](int slot) {
                        const int number = k * uniforms + slot;
                        if (number % per_block == 0) {
                            uniform[w] = draws::uniforms(
                                from.keys, from.path + word64(w),
                                word32(group * (period * uniforms / per_block) + number / per_block));
                        }
                        z[w][normals + slot] = uniform[w].x[number % per_block];
                    });
                });
                use(step, z);
            });
        });
    }

  private:
    static constexpr int max_of(int a, int b) { return a > b ? a : b; }
    // How many steps until a step begins with a new block again; per_block is a power of two.
    static constexpr int steps_to_align(int per_step, int per_block) {
        int period = 1;
        while (period < per_block && (period * per_step) % per_block != 0) period *= 2;
        return period;
    }
};

}  // namespace tilewalk::kernels::feeds
