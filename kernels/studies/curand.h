// SPDX-License-Identifier: Apache-2.0
// cuRAND's device generators and the CUDA library's exp, as baselines for ours. The only header of kernels/
// that includes one of the CUDA toolkit; no kernel that prices includes it.
#pragma once

#include <curand_kernel.h>

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels::studies {

// Four normals, by as few calls as the generator allows.
static neighbours<float, 4> next_singles(curandStatePhilox4_32_10_t& s) {
    const float4 z = curand_normal4(&s);
    return {{z.x, z.y, z.z, z.w}};
}
template <class any_state>
static neighbours<float, 4> next_singles(any_state& s) {
    const float2 a = curand_normal2(&s);
    const float2 b = curand_normal2(&s);
    return {{a.x, a.y, b.x, b.y}};
}

template <class real_type, class state_type, bool keeps>
struct curand_generator {
    using real = real_type;
    using state = state_type;
    static constexpr bool keeps_state = keeps;

    static state started(word64 seed, word64 sequence) {
        state s;
        curand_init(seed, sequence, 0, &s);
        return s;
    }
    static auto next(state& s) {
        if constexpr (sizeof(real) == 4) {
            return next_singles(s);
        } else {
            const double2 z = curand_normal2_double(&s);
            return neighbours<double, 2>{{z.x, z.y}};
        }
    }
    static real exp(real x) {
        if constexpr (sizeof(real) == 4) {
            return ::expf(x);
        } else {
            return ::exp(x);
        }
    }
};

}  // namespace tilewalk::kernels::studies
