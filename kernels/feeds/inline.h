// SPDX-License-Identifier: Apache-2.0
// The feed `inline`: shocks are made in registers without an array, and scenarios are loaded at the head of
// their step. The steps are unrolled so far that each round of the loop begins with a new block of random
// bits.
#pragma once

#include "kernels/feeds/feed.h"
#include "kernels/shocks.h"

namespace tilewalk::kernels::feeds {

// The source of a thread's shocks and scenarios.
template <class draws_type, int normals_, int uniforms_, class scenarios_ = no_scenarios>
struct random_draws {
    using draws = draws_type;
    using scenarios = scenarios_;
    static constexpr int normals = normals_, uniforms = uniforms_;
    const philox_schedule& keys;
    word64 path;  // the thread's first; a multiple of its number of paths
    scenarios scenario{};

    template <class arguments>
    static random_draws of(const arguments& a, word64 path, const word32* rows) {
        return {a.keys, path, scenarios::of(a, path, rows)};
    }
};

template <class shape, class memory>
struct inline_ {
  private:
    // The scenarios come first in the step: making its shocks hides part of the time that the loads take.
    template <class source>
    static constexpr void load_scenarios([[maybe_unused]] const memory& at, const source& from, int step,
                                         shocks_of_step<shape>& z) {
        using piece = pieces<shape>;
        constexpr int count = source::scenarios::slots, first = shape::slots - count;
        if constexpr (count > 0) {
            unrolled<count>([&](int slot) {
                unrolled<piece::count>([&](int k) {
                    const auto got = at.template load<typename piece::type>(from.scenario.at(step, slot) +
                                                                            word64(k * piece::paths));
                    unrolled<piece::paths>([&](int w) { z[k * piece::paths + w][first + slot] = got.x[w]; });
                });
            });
        }
    }

    static constexpr int max_of(int a, int b) { return a > b ? a : b; }
    // The number of steps until a step begins with a new block again; per_block is a power of two.
    static constexpr int steps_to_align(int per_step, int per_block) {
        int period = 1;
        while (period < per_block && (period * per_step) % per_block != 0) period *= 2;
        return period;
    }

  public:
    static constexpr word32 shared_bytes() { return 0; }

    // The number of steps laid out in the loop.
    template <class source>
    static constexpr int group = max_of(steps_to_align(source::normals, source::draws::per_block),
                                        steps_to_align(source::uniforms, source::draws::per_block));

    template <class body>
    static constexpr bool takes_groups() {
        if constexpr (requires { body::takes_groups; }) {
            return body::takes_groups;
        } else {
            return false;
        }
    }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        using draws = typename source::draws;
        constexpr int per_block = draws::per_block;
        constexpr int normals = source::normals, uniforms = source::uniforms;
        constexpr int period = group<source>;
        // If they are few, the shocks of a group are made ahead of it, and its steps stand side by side.
        constexpr bool at_once = period > 1 && period * shape::slots * shape::width <= 16 &&
                                 source::scenarios::slots == 0 && takes_groups<body>();
        typename draws::block normal[shape::width]{}, uniform[shape::width]{};
        typename draws::template path_bits<normal_stream> normal_bits[shape::width];
        typename draws::template path_bits<uniform_stream> uniform_bits[shape::width];
        unrolled<shape::width>([&](int w) {
            if constexpr (normals > 0) normal_bits[w] = {from.keys, from.path, word32(w)};
            if constexpr (uniforms > 0) uniform_bits[w] = {from.keys, from.path, word32(w)};
        });
        rolled(0, (steps + period - 1) / period, [&](int number_of_group) {
            const int first = number_of_group * period;
            const auto shocks_of = [&](int k) {
                shocks_of_step<shape> z{};
                load_scenarios(at, from, first + k, z);
                unrolled<shape::width>([&](int w) {
                    unrolled<normals>([&](int slot) {
                        const int number = k * normals + slot;
                        if (number % per_block == 0) {
                            normal[w] = draws::normals(
                                normal_bits[w], word32(number_of_group * (period * normals / per_block) +
                                                       number / per_block));
                        }
                        z[w][slot] = normal[w].x[number % per_block];
                    });
                    unrolled<uniforms>([&](int slot) {
                        const int number = k * uniforms + slot;
                        if (number % per_block == 0) {
                            uniform[w] = draws::uniforms(
                                uniform_bits[w], word32(number_of_group * (period * uniforms / per_block) +
                                                        number / per_block));
                        }
                        z[w][normals + slot] = uniform[w].x[number % per_block];
                    });
                });
                return z;
            };
            if constexpr (requires { use.begin(first); }) use.begin(first);
            const bool is_whole = first + period <= steps;
            if constexpr (at_once) {
                shocks_of_step<shape> z[word32(period)];
                unrolled<period>([&](int k) { z[k] = shocks_of(k); });
                if (is_whole && use.group_at_once(z)) return;
                unrolled<period>([&](int k) {
                    if (is_whole || first + k < steps) use(first + k, z[k]);
                });
            } else {
                unrolled<period>([&](int k) {
                    if (is_whole || first + k < steps) use(first + k, shocks_of(k));
                });
            }
        });
    }
};

}  // namespace tilewalk::kernels::feeds
