// SPDX-License-Identifier: Apache-2.0
// Bodies that feeds call for each step: on the way forward, and on the way back (adjoint).
#pragma once

#include "kernels/way_back/both_ways.h"
#include "kernels/way_back/kept_shocks.h"

namespace tilewalk::kernels {

// The path's way forward, which a feed calls for each step: walks it, and keeps the states at the start of
// each piece, from where the way back walks again.
template <class choice, class walker>
struct body_that_keeps : body<walker> {
    using states = typename both_ways<choice>::states;
    const states& kept;
    const kept_shocks<choice>& shocks;
    mutable int group_begin = 0;

    template <class group>
    bool group_at_once(const group& z) const {
        if (!body<walker>::group_at_once(z)) return false;
        constexpr int steps = int(sizeof(group) / sizeof(z[0]));
        unrolled<steps>([&](int k) { keep(group_begin + k, z[k]); });
        return true;
    }
    void quiet_step(int k, const typename walker::shocks& z) const {
        keep(group_begin + k, z);
        body<walker>::quiet_step(k, z);
    }
    void operator()(int step, const typename walker::shocks& z) const {
        keep(step, z);
        body<walker>::operator()(step, z);
    }
    void begin(int first) const {
        group_begin = first;
        if (first % choice::piece_steps == 0) {
            const states at = kept.from(first / choice::piece_steps * choice::ways::carried);
            unrolled<choice::ways::carried>([&](int i) {
                for (int w = 0; w < choice::shape::width; ++w)
                    at(i, w) = this->of.state(w, choice::ways::carried_of(i));
            });
        }
        this->of.begin(first);
    }

  private:
    template <class step_shocks>
    void keep(int step, const step_shocks& z) const {
        if constexpr (choice::keeps_shocks) shocks.keep(step, z);
    }
};

template <class choice>
struct shared_of_both_ways {
    using walk = both_ways<choice>;
    static constexpr word32 feed = outputs_of<typename choice::program>() * paths_per_tile * sizeof(double);
    static constexpr word32 sums = feed + choice::feed_bytes;
    static constexpr word32 states = sums + walk::sums::shared_bytes();
    static constexpr word32 shocks = states + choice::states_bytes;
};

// The way back of a thread, from the last step to the first, as the feed that reads kept shocks calls it.
template <class choice>
struct body_of_way_back {
    using walk = both_ways<choice>;
    using states = typename walk::states;
    using shape = typename choice::shape;
    static constexpr int piece_steps = choice::piece_steps;

    walk& of;
    const states kept;  // at the first step of each piece
    const states held;  // before each step of a piece
    const states held_quietly;
    const int steps;
    mutable bool is_quiet = false;

    // Begins a piece by walking it once more; piece(first, count, use) calls use(k, shocks) for its steps.
    template <class again>
    void begin(int step, const again& piece) const {
        if (step + 1 != steps && word32(step + 1) % piece_steps != 0) return;
        const int first = int(word32(step) / piece_steps * piece_steps), count = step + 1 - first;
        const states from = kept.from(first / piece_steps * choice::ways::carried);
        const auto shocks_of = [&](const auto& use) { piece(first, count, use); };
        if constexpr (choice::has_quiet_pieces) is_quiet = of.is_quiet_from(word32(first));
        if constexpr (choice::has_quiet_pieces) {
            if (is_quiet) {
                of.walk_quietly(
                    from, count, [&](int k) { return quiet_at(k); }, shocks_of);
                return;
            }
        }
        of.walk_with_events(
            from, word32(first), count, [&](int k) { return at(k); }, shocks_of);
    }
    template <class shocks>
    void step_back(int step, const shocks& z) const {
        const int k = int(word32(step) % piece_steps);
        if constexpr (choice::has_quiet_pieces) {
            if (is_quiet) {
                of.step_back_quietly(quiet_at(k), quiet_at(k + 1), z);
                return;
            }
        }
        of.step_back(word32(step), at(k), z);
    }

  private:
    states at(int k) const { return held.from(k * choice::ways::carried); }
    states quiet_at(int k) const { return held_quietly.from(k * choice::ways::carried_quietly); }
};

}  // namespace tilewalk::kernels
