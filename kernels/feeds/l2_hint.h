// SPDX-License-Identifier: Apache-2.0
// The feed `l2_hint`: `unroll` with loads that hint the L2 cache to bring the surrounding 64, 128 or 256
// bytes. Only 256 bytes gained speed (tanh and sum of 2^28 floats on an H100: 387 to 360 microseconds).
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct l2_hint {
    static constexpr word32 shared_bytes() { return 0; }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        using piece = pieces<shape>;
        constexpr int l2_bytes = shape::l2_bytes > 0 ? shape::l2_bytes : 256;
        unrolled_by<shape::distance>(0, steps, [&](int step) {
            use(step, shocks_from_pieces<shape>([&](int slot, int k) {
                    return at.template load_with_l2<typename piece::type, l2_bytes>(from.at(step, slot) +
                                                                                    word64(k * piece::paths));
                }));
        });
    }
};

}  // namespace tilewalk::kernels::feeds
