// SPDX-License-Identifier: Apache-2.0
// The feed `register_batched`: loads the shocks of `distance` steps into registers at once, uses them up, and
// loads again. Many loads are under way at a time, with one wait for all.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct register_batched {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        rolled(0, (steps + distance - 1) / distance, [&](int group) {
            const int first = group * distance;
            shocks_of_step<shape> batch[unsigned(distance)]{};
            unrolled<distance>([&](int k) {
                if (first + k < steps) batch[k] = load_shocks<shape>(at, from, first + k);
            });
            unrolled<distance>([&](int k) {
                if (first + k < steps) use(first + k, batch[k]);
            });
        });
    }
};

}  // namespace tilewalk::kernels::feeds
