// SPDX-License-Identifier: Apache-2.0
// The feed `smem_rolling`: a ring in shared memory, with one new load a step, used `distance` steps later.
// The load passes through a register, so only the step that runs between load and write hides its latency.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct smem_rolling {
    using ring = thread_ring<shape, memory>;
    static constexpr word32 shared_bytes() { return ring::geometry().bytes(); }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        const ring ahead{at};
        rolled(0, steps < distance ? steps : distance,
               [&](int step) { ahead.write(step, load_shocks<shape>(at, from, step)); });
        int position = 0;
        rolled(0, steps, [&](int step) {
            const auto z = ahead.read(position);
            const bool more = step + distance < steps;
            shocks_of_step<shape> next{};
            if (more) next = load_shocks<shape>(at, from, step + distance);
            use(step, z);
            if (more) ahead.write(position, next);
            position = ring::after(position);
        });
    }
};

}  // namespace tilewalk::kernels::feeds
