// SPDX-License-Identifier: Apache-2.0
// A plain load at the point of use and no unrolling: the baseline of every comparison.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct none {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            shocks_of_step<shape> z{};
            for (int slot = 0; slot < shape::slots; ++slot) {
                const auto got = at.template load<shape::width>(from.at(step, slot));
                for (int w = 0; w < shape::width; ++w) z[w][slot] = got.x[w];
            }
            use(step, z);
        }
    }
};

}  // namespace tilewalk::kernels::feeds
