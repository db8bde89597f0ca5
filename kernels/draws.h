// SPDX-License-Identifier: Apache-2.0
// The random numbers of a path in each precision, a block at a time. Their key is a seed, or the schedule of
// one.
#pragma once

#include "kernels/shocks.h"

namespace tilewalk::kernels {

struct double_draws {
    using shock = double;
    static constexpr int per_block = 2;
    struct block {
        double x[per_block];
    };
    template <class key>
    static constexpr block normals(const key& keys, word64 path, word32 number) {
        const auto two = normals_of_block(path_block(keys, path, number, normal_stream));
        return {{two.first, two.second}};
    }
    template <class key>
    static constexpr block uniforms(const key& keys, word64 path, word32 number) {
        const auto two = uniforms_of_block(path_block(keys, path, number, uniform_stream));
        return {{two.first, two.second}};
    }
};

struct single_draws {
    using shock = float;
    static constexpr int per_block = 4;
    using block = four_shocks;
    template <class key>
    static constexpr block normals(const key& keys, word64 path, word32 number) {
        return single_normals_of_block(path_block(keys, path, number, normal_stream));
    }
    template <class key>
    static constexpr block uniforms(const key& keys, word64 path, word32 number) {
        return single_uniforms_of_block(path_block(keys, path, number, uniform_stream));
    }
};

}  // namespace tilewalk::kernels
