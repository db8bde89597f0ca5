// SPDX-License-Identifier: Apache-2.0
// A path's random numbers in each precision, a block at a time: from seed and path, or from a path's stream.
#pragma once

#include "kernels/shocks.h"

namespace tilewalk::kernels {

// Stands in for std::conditional, whose header NVRTC lacks.
template <bool yes, class first, class second>
struct choose {
    using type = first;
};
template <class first, class second>
struct choose<false, first, second> {
    using type = second;
};

struct double_draws {
    using shock = double;
    // Random bits of a path in one stream. `is_one_of_several`: the path draws from other streams, too.
    template <word32 kind, bool is_one_of_several = false>
    using path_bits = path_stream<kind>;
    static constexpr int per_block = 2;
    struct block {
        double x[per_block];
    };
    static constexpr block normals(word64 seed, word64 path, word32 number, stream_key name = {}) {
        const auto two = normals_of_block(path_block(seed, path, number, normal_stream, name));
        return {{two.first, two.second}};
    }
    template <class stream>
    static constexpr block normals(const stream& bits, word32 number) {
        const auto two = normals_of_block(bits[number]);
        return {{two.first, two.second}};
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number, stream_key name = {}) {
        const auto two = uniforms_of_block(path_block(seed, path, number, uniform_stream, name));
        return {{two.first, two.second}};
    }
    template <class stream>
    static constexpr block uniforms(const stream& bits, word32 number) {
        const auto two = uniforms_of_block(bits[number]);
        return {{two.first, two.second}};
    }
};

struct single_draws {
    using shock = float;
    // prepared_path_stream takes three more registers a stream, too many for several streams.
    template <word32 kind, bool is_one_of_several = false>
    using path_bits = typename choose<is_one_of_several, path_stream<kind>, prepared_path_stream<kind>>::type;
    static constexpr int per_block = 4;
    using block = four_shocks;
    static constexpr block normals(word64 seed, word64 path, word32 number, stream_key name = {}) {
        return single_normals_of_block(path_block(seed, path, number, normal_stream, name));
    }
    template <class stream>
    static constexpr block normals(const stream& bits, word32 number) {
        return single_normals_of_block(bits[number]);
    }
    static constexpr block uniforms(word64 seed, word64 path, word32 number, stream_key name = {}) {
        return single_uniforms_of_block(path_block(seed, path, number, uniform_stream, name));
    }
    template <class stream>
    static constexpr block uniforms(const stream& bits, word32 number) {
        return single_uniforms_of_block(bits[number]);
    }
};

// Draws like single_draws; states in double leave too few registers for prepared_path_stream.
struct mixed_draws : single_draws {
    template <word32 kind, bool is_one_of_several = false>
    using path_bits = path_stream<kind>;
};

}  // namespace tilewalk::kernels
