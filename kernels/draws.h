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
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        const auto two = normals_of_block(path_block(seed, path, number, normal_stream));
        return {{two.first, two.second}};
    }
    static constexpr block normals(const philox_schedule& keys, word64 path, word32 number) {
        const auto two = normals_of_block(path_block(keys, path, number, normal_stream));
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        const auto two = uniforms_of_block(path_block(seed, path, number, uniform_stream));
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(const philox_schedule& keys, word64 path, word32 number) {
        const auto two = uniforms_of_block(path_block(keys, path, number, uniform_stream));
        return {{two.first, two.second}};
    }
};

struct single_draws {
    using shock = float;
    static constexpr int per_block = 4;
    using block = four_shocks;
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        return single_normals_of_block(path_block(seed, path, number, normal_stream));
    }
    static constexpr block normals(const philox_schedule& keys, word64 path, word32 number) {
        return single_normals_of_block(path_block(keys, path, number, normal_stream));
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        return single_uniforms_of_block(path_block(seed, path, number, uniform_stream));
    }
    static constexpr block uniforms(const philox_schedule& keys, word64 path, word32 number) {
        return single_uniforms_of_block(path_block(keys, path, number, uniform_stream));
    }
};

}  // namespace tilewalk::kernels
