// SPDX-License-Identifier: Apache-2.0
// The random numbers of a path in each precision, a block at a time.
#pragma once

#include "kernels/shocks.h"

namespace tilewalk::kernels {

struct double_draws {
    using shock = double;
    static constexpr int per_block = 2;
    struct block {
        double x[per_block];
    };
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        const auto two = kernels::normals(seed, path, number);
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        const auto two = kernels::uniforms(seed, path, number);
        return {{two.first, two.second}};
    }
};

struct single_draws {
    using shock = float;
    static constexpr int per_block = 4;
    using block = four_shocks;
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        return single_normals(seed, path, number);
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        return single_uniforms(seed, path, number);
    }
};

}  // namespace tilewalk::kernels
