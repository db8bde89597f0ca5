// SPDX-License-Identifier: Apache-2.0
// The feed `inline`: shocks are generated in registers, and scenarios are loaded at the start of their step.
// Steps are unrolled so that each round of the loop begins with a new block of random bits.
#pragma once

#include "kernels/feeds/feed.h"
#include "kernels/shocks.h"
#include "kernels/stream_slots.h"

namespace tilewalk::kernels::feeds {

// For sources whose drawn numbers are themselves the shocks.
struct as_drawn {
    static constexpr bool reads_memory = false, makes_normals = false;
    template <class source, class memory>
    static constexpr int bring(const source&, const memory&, int) {
        return 0;
    }
    template <class source, class shocks>
    constexpr void move(const source&, int, shocks&) {}
};

// A thread's source of shocks, drawn from random streams, and scenarios. `normals`, `uniforms`: stream_slots.
template <class draws_type, class normals_, class uniforms_, class scenarios_ = no_scenarios>
struct random_draws {
    using draws = draws_type;
    using scenarios = scenarios_;
    using normals = normals_;
    using uniforms = uniforms_;
    // Turns drawn numbers into shocks: bring() loads what it takes before the draws, move() transforms.
    using turn = as_drawn;
    const philox_schedule& keys;
    word64 path;  // the thread's first; a multiple of its number of paths
    scenarios scenario{};
    // Keys of the trade's streams, normals first.
    stream_key names[word32(normals::streams() + uniforms::streams() + 1)]{};

    template <class arguments, class trade_words>
    static random_draws of(const arguments& a, word64 path, const trade_words& words) {
        random_draws made{a.keys, path, scenarios::of(a, path, words)};
        spelled_out<normals::streams() + uniforms::streams()>(
            [&](int stream) { made.names[stream] = words.key(stream); });
        return made;
    }
};

template <class shape, class memory>
struct inline_ {
  private:
    // Loads scenarios first in the step, so that generating its shocks hides part of the latency.
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
    static constexpr word32 min_of(word32 a, word32 b) { return a < b ? a : b; }
    // Steps after which all streams begin a new block together with a step; per_block is a power of two.
    template <class slots>
    static constexpr int steps_to_align(int per_block) {
        int period = 1;
        for (int stream = 0; stream < slots::streams(); ++stream) {
            while (period < per_block && (period * slots::dimensions(stream)) % per_block != 0) period *= 2;
        }
        return period;
    }

    // Numbers of one kind (normal, uniform) that a thread's paths draw: the current block of each stream.
    template <class draws, class slots, word32 kind>
    struct drawn {
        static constexpr int per_block = draws::per_block;
        static constexpr word32 streams = word32(max_of(slots::streams(), 1));
        // Cleared only for few streams, which gains 1 or 2 %; clearing for ten assets costs 15 % in double.
        typename draws::block block[shape::width][streams];
        typename draws::template path_bits<kind, (slots::streams() > 1)> bits[shape::width][streams];

        template <class source>
        constexpr drawn(const source& from, int first_name) {
            spelled_out<slots::streams()>([&](int stream) {
                const stream_key name = from.names[first_name + stream];
                unrolled<shape::width>([&](int w) {
                    if constexpr (streams <= 4) block[w][stream] = {};
                    bits[w][stream] = {from.keys, from.path, word32(w), name};
                });
            });
        }

        // The number of path w for `slot` on step k of a group, to be called by steps and slots in order.
        template <int period>
        constexpr typename draws::shock number(int w, int slot, int k, int number_of_group) {
            const int stream = slots::stream_of(slot), dimensions = slots::dimensions(stream);
            const int number = k * dimensions + slots::dimension_of(slot);
            if (number % per_block == 0) {
                const auto in_path =
                    word32(number_of_group * (period * dimensions / per_block) + number / per_block);
                if constexpr (kind == normal_stream) {
                    block[w][stream] = draws::normals(bits[w][stream], in_path);
                } else {
                    block[w][stream] = draws::uniforms(bits[w][stream], in_path);
                }
            }
            return block[w][stream].x[number % per_block];
        }
    };

    template <class source>
    struct maker {
        static constexpr bool draws_normals = !source::turn::makes_normals;
        static constexpr int period =
            max_of(draws_normals ? steps_to_align<typename source::normals>(source::draws::per_block) : 1,
                   steps_to_align<typename source::uniforms>(source::draws::per_block));
        const source& from;
        const memory at;
        drawn<typename source::draws, typename source::normals, normal_stream> normal;
        drawn<typename source::draws, typename source::uniforms, uniform_stream> uniform;
        typename source::turn turn{};

        constexpr maker(const source& from_, memory at_)
            : from(from_), at(at_), normal(from_, 0), uniform(from_, source::normals::streams()) {}
        constexpr shocks_of_step<shape> operator()(int number_of_group, int k) {
            using normals = typename source::normals;
            shocks_of_step<shape> z{};
            load_scenarios(at, from, number_of_group * period + k, z);
            const auto brought = turn.bring(from, at, number_of_group * period + k);
            unrolled<shape::width>([&](int w) {
                if constexpr (draws_normals) {
                    spelled_out<normals::count>([&](int slot) {
                        z[w][slot] = normal.template number<period>(w, slot, k, number_of_group);
                    });
                }
                spelled_out<source::uniforms::count>([&](int slot) {
                    z[w][normals::count + slot] =
                        uniform.template number<period>(w, slot, k, number_of_group);
                });
            });
            turn.move(from, brought, z);
            return z;
        }
    };

  public:
    static constexpr word32 shared_bytes() { return 0; }

    template <class source>
    static constexpr int group = maker<source>::period;

    template <class body>
    static constexpr bool takes_groups() {
        if constexpr (requires { body::takes_groups; }) {
            return body::takes_groups;
        } else {
            return false;
        }
    }
    template <class body>
    static constexpr bool has_short_steps() {
        if constexpr (requires { body::has_short_steps; }) {
            return body::has_short_steps;
        } else {
            return false;
        }
    }

    // Calls use(step, z) for steps from `first`, a multiple of the group size, to `last` - 1.
    template <class source, class body>
    static constexpr void walk_part(const source& from, int first, int last, memory at, const body& use) {
        constexpr int period = group<source>;
        maker<source> shocks_of(from, at);
        rolled(first / period, (last + period - 1) / period, [&](int number_of_group) {
            unrolled<period>([&](int k) {
                const int step = number_of_group * period + k;
                if (step < last) use(step, shocks_of(number_of_group, k));
            });
        });
    }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int period = group<source>;
        constexpr bool reads_memory = source::scenarios::slots > 0 || source::turn::reads_memory;
        constexpr bool are_few = period * shape::slots * shape::width <= 16 && !reads_memory;
        // If a group has few shocks, generates all of them first, and then unrolls its steps together.
        constexpr bool at_once = period > 1 && are_few && takes_groups<body>();
        maker<source> shocks_of(from, at);
        // Offers a whole group to `whole`; if this declines (returns false), hands each step to `to`.
        const auto walk_group = [&](int number_of_group, const auto& whole, const auto& to) {
            if constexpr (requires { use.begin(0); }) use.begin(number_of_group * period);
            if constexpr (at_once) {
                shocks_of_step<shape> z[word32(period)];
                unrolled<period>([&](int k) { z[k] = shocks_of(number_of_group, k); });
                if (whole(z)) return;
                unrolled<period>([&](int k) { to(k, [&] { return z[k]; }); });
            } else {
                unrolled<period>([&](int k) { to(k, [&] { return shocks_of(number_of_group, k); }); });
            }
        };
        const auto walk_any_group = [&](int number_of_group) {
            const int first = number_of_group * period;
            const bool is_whole = first + period <= steps;
            walk_group(
                number_of_group,
                [&]([[maybe_unused]] const auto& z) {
                    if constexpr (at_once) {
                        return is_whole && use.group_at_once(z);
                    } else {
                        return false;
                    }
                },
                [&](int k, const auto& shocks) {
                    if (is_whole || first + k < steps) use(first + k, shocks());
                });
        };
        const int groups = (steps + period - 1) / period;
        if constexpr (has_short_steps<body>() && are_few) {
            // Short steps: groups without an event have a loop of their own, which takes fewer registers.
            int number_of_group = 0;
            while (number_of_group < groups) {
                const int quiet = int(min_of(use.quiet_until(), word32(steps)) / word32(period));
                rolled(number_of_group, quiet, [&](int number) {
                    walk_group(
                        number, [](const auto&) { return false; },
                        [&](int k, const auto& shocks) { use.quiet_step(k, shocks()); });
                });
                number_of_group = max_of(number_of_group, quiet);
                if (number_of_group < groups) walk_any_group(number_of_group++);
            }
        } else {
            rolled(0, groups, walk_any_group);
        }
    }
};

}  // namespace tilewalk::kernels::feeds
