// SPDX-License-Identifier: Apache-2.0
// The result of a set of paths: moments of their payoffs, how many are not finite, the first path of these.
#pragma once

#include "kernels/moments.h"

namespace tilewalk::kernels {

struct tile_result {
    kernels::moments moments{};  // empty where not_finite > 0
    word64 not_finite = 0;
    word64 first_not_finite = ~word64{0};  // path
};

static constexpr tile_result merge(const tile_result& a, const tile_result& b) {
    return {merge(a.moments, b.moments), a.not_finite + b.not_finite,
            a.first_not_finite < b.first_not_finite ? a.first_not_finite : b.first_not_finite};
}

}  // namespace tilewalk::kernels
