// SPDX-License-Identifier: Apache-2.0
// What every feed is made of. A feed brings the shocks of a step to a thread; one file each in this folder,
// the file's name is the feed's. Each is a struct
//
//     template <class shape, class memory>
//     struct NAME {
//         // Bytes of shared memory of a block (a multiple of 16).
//         static constexpr word32 shared_bytes();
//         // Calls use(step, z) for step 0, 1, ... steps - 1 in turn, where z[path][slot] are the shocks of
//         // the step for the thread's `width` consecutive paths, in registers.
//         template <class source, class body>
//         static void walk(const source& from, int steps, memory at, const body& use);
//     };
//
// All arrays that are indexed stand in registers, so every index must be known when the kernel is compiled.
//
// `shape` says how the kernel is built (see feed_shape). `memory` does what a thread does to memory:
// kernels/ptx.h on a GPU, a model on the host that delivers an asynchronous copy only when it is waited for.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

enum class ring_layout { plain, padded, transposed };

// The constants a feed is compiled with.
template <class shock_type, int slots_, int width_, int threads_, int distance_, int rows_,
          ring_layout layout_, int padding_>
struct feed_shape {
    using shock = shock_type;
    static constexpr int slots = slots_;      // shocks a step takes, normals first, then uniforms
    static constexpr int width = width_;      // consecutive paths of a thread
    static constexpr int threads = threads_;  // of a block
    static constexpr int distance = distance_;
    static constexpr int rows = rows_;  // steps of a stage, for feeds that copy by stages
    static constexpr ring_layout layout = layout_;
    static constexpr int padding = padding_;  // elements added to a thread's ring, for the padded layout
};

// The shocks of one step for a thread's paths.
template <class shape>
struct shocks_of_step {
    typename shape::shock of[shape::width][shape::slots > 0 ? shape::slots : 1];

    constexpr const typename shape::shock* operator[](int path) const { return of[path]; }
    constexpr typename shape::shock* operator[](int path) { return of[path]; }
};

// Neighbours in memory that one load or copy moves: up to 16 bytes.
template <class element, int count>
struct alignas(sizeof(element) * static_cast<unsigned long>(count)) neighbours {
    element x[count];
};

// A cube of one kind of shock: the number for `slot` of `step` of path p stands at
// first[step * step_stride + slot * slot_stride + p].
template <class element>
struct shock_array {
    const element* first;
    word64 step_stride;
    word64 slot_stride;
};

// Shocks from memory, as a thread sees them: `at` points to the step's slot for the first of its paths, and
// the next `width` follow. The address is a multiple of width * sizeof(shock).
template <class shape, int normals>
struct array_source {
    using shock = typename shape::shock;
    shock_array<shock> normal;
    shock_array<shock> uniform;

    constexpr const shock* at(int step, int slot) const {
        const auto& from = slot < normals ? normal : uniform;
        const int in = slot < normals ? slot : slot - normals;
        return from.first + word64(step) * from.step_stride + word64(in) * from.slot_stride;
    }
};

}  // namespace tilewalk::kernels
