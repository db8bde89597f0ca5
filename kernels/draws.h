// SPDX-License-Identifier: Apache-2.0
// The random numbers of a path in each precision, a block at a time: from the seed, or from words prepared
// once for all blocks of a path.
#pragma once

#include "kernels/shocks.h"

namespace tilewalk::kernels {

struct double_draws {
    using shock = double;
    template <word32 stream>
    using path_bits = path_stream<stream>;
    static constexpr int per_block = 2;
    struct block {
        double x[per_block];
    };
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        const auto two = normals_of_block(path_block(seed, path, number, normal_stream));
        return {{two.first, two.second}};
    }
    static constexpr block normals(const path_bits<normal_stream>& bits, word32 number) {
        const auto two = normals_of_block(bits[number]);
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        const auto two = uniforms_of_block(path_block(seed, path, number, uniform_stream));
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(const path_bits<uniform_stream>& bits, word32 number) {
        const auto two = uniforms_of_block(bits[number]);
        return {{two.first, two.second}};
    }
};

struct single_draws {
    using shock = float;
    template <word32 stream>
    using path_bits = prepared_path_stream<stream>;
    static constexpr int per_block = 4;
    using block = four_shocks;
    static constexpr block normals(word64 seed, word64 path, word32 number) {
        return single_normals_of_block(path_block(seed, path, number, normal_stream));
    }
    static constexpr block normals(const path_bits<normal_stream>& bits, word32 number) {
        return single_normals_of_block(bits[number]);
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number) {
        return single_uniforms_of_block(path_block(seed, path, number, uniform_stream));
    }
    static constexpr block uniforms(const path_bits<uniform_stream>& bits, word32 number) {
        return single_uniforms_of_block(bits[number]);
    }
};

}  // namespace tilewalk::kernels
