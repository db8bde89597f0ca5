// SPDX-License-Identifier: Apache-2.0
// The feed `register_rolling`: a ring in registers, with one new load a step, used `distance` steps later.
// Steps are unrolled by `distance`, so that ring indices are constants and need no local memory.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct register_rolling {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        shocks_of_step<shape> ring[unsigned(distance)]{};
        unrolled<distance>([&](int k) {
            if (k < steps) ring[k] = load_shocks<shape>(at, from, k);
        });
        rolled(0, (steps + distance - 1) / distance, [&](int group) {
            unrolled<distance>([&](int k) {
                const int step = group * distance + k;
                const shocks_of_step<shape> z = ring[k];
                if (step + distance < steps) ring[k] = load_shocks<shape>(at, from, step + distance);
                if (step < steps) use(step, z);
            });
        });
    }
};

}  // namespace tilewalk::kernels::feeds
