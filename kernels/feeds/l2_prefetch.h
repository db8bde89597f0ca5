// SPDX-License-Identifier: Apache-2.0
// The feed `l2_prefetch`: prefetches shocks to the L2 cache `distance` steps before they are loaded.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct l2_prefetch {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        const auto prefetch = [&](int step) {
            if (step < steps) unrolled<shape::slots>([&](int slot) { at.prefetch_l2(from.at(step, slot)); });
        };
        // The first step is loaded at once, without a prefetch.
        rolled(1, distance, prefetch);
        rolled(0, steps, [&](int step) {
            prefetch(step + distance);
            use(step, load_shocks<shape>(at, from, step));
        });
    }
};

}  // namespace tilewalk::kernels::feeds
