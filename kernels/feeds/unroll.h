// SPDX-License-Identifier: Apache-2.0
// The feed `unroll`: plain loads in a loop unrolled by `distance`, which the compiler may move forward.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct unroll {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        unrolled_by<shape::distance>(0, steps,
                                     [&](int step) { use(step, load_shocks<shape>(at, from, step)); });
    }
};

}  // namespace tilewalk::kernels::feeds
