// SPDX-License-Identifier: Apache-2.0
// Random bits to shocks by inversion. Neighbouring bits give neighbouring shocks, for quasi-random points.
#pragma once

#include "kernels/normal_distribution.h"
#include "kernels/shocks.h"

namespace tilewalk::kernels {

static constexpr double normal_of_bits(word64 w) {
    return norm_inv(uniform_of_bits(w));
}
// norm_inv((w + 1/2) / 2^32) for the lower half, mirrored for the upper: both tails reach norm_inv(2^-33).
static constexpr float normal_of_bits(word32 w) {
    const bool is_upper = w >= 0x80000000u;
    const float x = norm_inv(fma(float(is_upper ? ~w : w), 0x1p-32f, 0x1p-33f));
    return is_upper ? -x : x;
}

enum class shock_kind { normal, uniform };

// A shock of random bits. Uniforms are strictly inside (0, 1).
template <shock_kind kind, class word>
static constexpr auto shock_of_bits(word w) {
    if constexpr (kind == shock_kind::normal) {
        return normal_of_bits(w);
    } else {
        return uniform_of_bits(w);
    }
}

}  // namespace tilewalk::kernels
