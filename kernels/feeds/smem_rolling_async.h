// SPDX-License-Identifier: Apache-2.0
// The feed `smem_rolling_async`: a ring in shared memory filled by asynchronous copies (cp.async), started
// `distance` steps ahead. Copies take no register, and each thread waits for its own copies only.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct smem_rolling_async {
    using ring = thread_ring<shape, memory>;
    static constexpr word32 shared_bytes() { return ring::geometry().bytes(); }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        const ring ahead{at};
        // One group of copies for each step, even if empty, so that waiting for groups is waiting for steps.
        const auto start = [&](int step, int position) {
            if (step < steps) ahead.copy(position, from, step);
            at.commit_copies();
        };
        rolled(0, distance, [&](int step) { start(step, step); });
        int position = 0;
        rolled(0, steps, [&](int step) {
            at.template wait_for_copies<distance - 1>();
            const auto z = ahead.read(position);
            start(step + distance, position);
            position = ring::after(position);
            use(step, z);
        });
    }
};

}  // namespace tilewalk::kernels::feeds
