// SPDX-License-Identifier: Apache-2.0
// Parts that all feeds share. A feed is a strategy that brings the shocks of each step to a thread: a struct
// in a file of this folder with the feed's name,
//
//     template <class shape, class memory>
//     struct NAME {
//         // Bytes of shared memory of a block (a multiple of 16).
//         static constexpr word32 shared_bytes();
//         // Calls use(step, z) for step 0, 1, ... steps - 1 in turn, where z[path][slot] are the shocks of
//         // the step for the thread's `width` consecutive paths, in registers. All threads of the block call
//         // it with the same number of steps. Afterwards no copy into shared memory is under way.
//         template <class source, class body>
//         static void walk(const source& from, int steps, memory at, const body& use);
//     };
//
// Arrays must stay in registers, so every index must be a compile-time constant. The body is the whole
// program of a step: a feed calls it in one place, unless the feed is about unrolling.
//
// `shape` says how the kernel is built (see feed_shape). `memory` has a thread's memory operations:
// kernels/ptx.h on a GPU; on the host a model that delivers an asynchronous copy only when it is waited for.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/loops.h"

namespace tilewalk::kernels {

enum class ring_layout { plain, padded, transposed };

template <class shock_type, int slots_, int width_, int threads_, int distance_, int rows_,
          ring_layout layout_, int padding_, int l2_bytes_ = 0>
struct feed_shape {
    using shock = shock_type;
    // Numbers that a step reads: normals, uniforms, scenarios.
    static constexpr int slots = slots_;
    static constexpr int width = width_;        // consecutive paths per thread
    static constexpr int threads = threads_;    // per block
    static constexpr int distance = distance_;  // steps ahead
    static constexpr int rows = rows_;          // steps of a stage, for feeds that copy by stages
    static constexpr ring_layout layout = layout_;
    // Pieces between threads' rings in the padded layout; negative: chosen automatically (see ring_geometry).
    static constexpr int padding = padding_;
    // Bytes that a load or copy asks the L2 cache to fetch: 64, 128, 256; 0: no request.
    static constexpr int l2_bytes = l2_bytes_;
};

template <class shape>
struct shocks_of_step {
    typename shape::shock of[shape::width][shape::slots > 0 ? shape::slots : 1];

    constexpr const typename shape::shock* operator[](int path) const { return of[path]; }
    constexpr typename shape::shock* operator[](int path) { return of[path]; }
};

template <class element, int count>
struct alignas(sizeof(element) * unsigned(count)) neighbours {
    element x[unsigned(count)];
};

// Paths in a piece. A thread moves its paths' numbers of a slot in pieces of up to 16 bytes, one access each.
static constexpr int paths_of_piece(int width, int shock_bytes) {
    return width * shock_bytes < 16 ? width : 16 / shock_bytes;
}

template <class shape>
struct pieces {
    static constexpr int paths = paths_of_piece(shape::width, sizeof(typename shape::shock));
    static constexpr int count = shape::width / paths;  // pieces per slot
    static constexpr int bytes = paths * int(sizeof(typename shape::shock));
    using type = neighbours<typename shape::shock, paths>;
};

// Assembles the shocks of a step from pieces: get(slot, number of the piece in the slot).
template <class shape, class getter>
static constexpr shocks_of_step<shape> shocks_from_pieces(const getter& get) {
    using piece = pieces<shape>;
    shocks_of_step<shape> z{};
    unrolled<shape::slots>([&](int slot) {
        unrolled<piece::count>([&](int k) {
            const typename piece::type got = get(slot, k);
            unrolled<piece::paths>([&](int w) { z[k * piece::paths + w][slot] = got.x[w]; });
        });
    });
    return z;
}

// A cube of one kind of shock: the number for `slot` of `step` of path p is at first + step * step_stride +
// slot * slot_stride + p. `place` is a pointer, or stands for one where memory has no addresses (textures).
template <class place>
struct shock_array {
    place first;
    word64 step_stride;
    word64 slot_stride;

    constexpr place at(int step, int slot) const {
        return first + (word64(step) * step_stride + word64(slot) * slot_stride);
    }
};

// Source of scenarios for programs that read none. Any such source has `slots` and at(step, slot), a place.
struct no_scenarios {
    static constexpr int slots = 0;

    template <class arguments, class trade_words>
    static constexpr no_scenarios of(const arguments&, word64, const trade_words&) {
        return {};
    }
};

// Shocks and scenarios in memory: at(step, slot) is the place of the thread's first path, before its others.
// It is aligned to a piece, or to 16 bytes for bulk copies. Rows have room for the last block's paths.
template <class shape, int normals, class place = const typename shape::shock*,
          class scenarios = no_scenarios>
struct array_source {
    shock_array<place> normal;
    shock_array<place> uniform;
    scenarios scenario{};

    constexpr place at(int step, int slot) const {
        if constexpr (scenarios::slots > 0) {
            constexpr int first = shape::slots - scenarios::slots;
            if (slot >= first) return scenario.at(step, slot - first);
        }
        return slot < normals ? normal.at(step, slot) : uniform.at(step, slot - normals);
    }
};

template <class shape, class memory, class source>
static constexpr shocks_of_step<shape> load_shocks(const memory& at, const source& from, int step) {
    using piece = pieces<shape>;
    return shocks_from_pieces<shape>([&](int slot, int k) {
        return at.template load<typename piece::type>(from.at(step, slot) + word64(k * piece::paths));
    });
}

}  // namespace tilewalk::kernels
