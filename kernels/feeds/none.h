// SPDX-License-Identifier: Apache-2.0
// The feed `none`: a plain load at the point of use, not unrolled. The baseline of every comparison.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct none {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        rolled(0, steps, [&](int step) { use(step, load_shocks<shape>(at, from, step)); });
    }
};

}  // namespace tilewalk::kernels::feeds
