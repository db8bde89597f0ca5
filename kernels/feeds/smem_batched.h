// SPDX-License-Identifier: Apache-2.0
// The feed `smem_batched`: loads the shocks of `distance` steps into shared memory at once, uses them up, and
// loads again. The batch takes no registers while the steps run, and the step's code appears once.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct smem_batched {
    using ring = thread_ring<shape, memory>;
    static constexpr word32 shared_bytes() { return ring::geometry().bytes(); }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr int distance = shape::distance;
        const ring batch{at};
        rolled(0, (steps + distance - 1) / distance, [&](int group) {
            const int first = group * distance;
            const int count = steps - first < distance ? steps - first : distance;
            rolled(0, (count + at_once - 1) / at_once,
                   [&](int part) { fill(batch, from, at, first, part * at_once, count); });
            rolled(0, count, [&](int k) { use(first + k, batch.read(k)); });
        });
    }

  private:
    // Steps loaded into registers before any goes to shared memory: as many as 32 registers hold.
    static constexpr int words = shape::slots * shape::width * int(sizeof(typename shape::shock)) / 4;
    static constexpr int wished = words > 16 ? 1 : words > 0 ? 32 / words : 1;
    static constexpr int at_once = wished < shape::distance ? wished : shape::distance;

    template <class source>
    static constexpr void fill(const ring& batch, const source& from, const memory& at, int first, int start,
                               int count) {
        shocks_of_step<shape> loaded[unsigned(at_once)]{};
        unrolled<at_once>([&](int k) {
            if (start + k < count) loaded[k] = load_shocks<shape>(at, from, first + start + k);
        });
        unrolled<at_once>([&](int k) {
            if (start + k < count) batch.write(start + k, loaded[k]);
        });
    }
};

}  // namespace tilewalk::kernels::feeds
