// SPDX-License-Identifier: Apache-2.0
// Rings of shocks in shared memory, and where pieces lie in them, also for hosts and tests of bank conflicts.
#pragma once

#include "kernels/feeds/feed.h"

namespace tilewalk::kernels {

// Every thread has a ring of `positions` for each piece of each slot of a step.
//
// Shared memory serves 128 bytes at a time: 32 threads of 4-byte pieces, 16 of 8-byte, 8 of 16-byte ones,
// without conflict if they hit all banks equally often.
//   transposed  The threads' pieces of one position are adjacent: no conflict.
//   plain       A thread's positions are adjacent, threads are `positions` pieces apart: as many conflicts
//               as the greatest common divisor of `positions` and the number of threads served at a time.
//   padded      Like plain, with threads an odd number of pieces apart: no conflict. Chosen automatically,
//               positions + padding is the next 2^k + 1, k > 0; any odd sum would do.
struct ring_geometry {
    ring_layout layout;
    int rings;  // per thread
    int threads;
    int positions;
    int padding;  // pieces; negative: chosen automatically
    int piece_bytes;

    // Pieces between the same position of neighbouring threads; not for the transposed layout.
    constexpr int length() const {
        if (layout != ring_layout::padded) return positions;
        if (padding >= 0) return positions + padding;
        int power = 2;
        while (power + 1 < positions) power *= 2;
        return power + 1;
    }
    constexpr word32 bytes() const { return word32(rings * threads * length() * piece_bytes); }
    constexpr word32 offset(int ring, int thread, int position) const {
        const int piece = layout == ring_layout::transposed ? (ring * positions + position) * threads + thread
                                                            : (ring * threads + thread) * length() + position;
        return word32(piece * piece_bytes);
    }
};

// A feed's ring, as one thread uses it. A thread reads only what it has written, and so waits for no other.
template <class shape, class memory>
struct thread_ring {
    using piece = pieces<shape>;
    memory at;

    static constexpr ring_geometry geometry() {
        return {shape::layout, shape::slots * piece::count, shape::threads, shape::distance, shape::padding,
                piece::bytes};
    }

    constexpr shocks_of_step<shape> read(int position) const {
        return shocks_from_pieces<shape>([&](int slot, int k) {
            return at.template read<typename piece::type>(place_of(slot, k, position));
        });
    }
    constexpr void write(int position, const shocks_of_step<shape>& z) const {
        unrolled<shape::slots>([&](int slot) {
            unrolled<piece::count>([&](int k) {
                typename piece::type value{};
                unrolled<piece::paths>([&](int w) { value.x[w] = z[k * piece::paths + w][slot]; });
                at.write(place_of(slot, k, position), value);
            });
        });
    }
    template <class source>
    constexpr void copy(int position, const source& from, int step) const {
        unrolled<shape::slots>([&](int slot) {
            unrolled<piece::count>([&](int k) {
                at.template copy_async<typename piece::type, shape::l2_bytes, (piece::count > 1)>(
                    place_of(slot, k, position), from.at(step, slot) + word64(k * piece::paths));
            });
        });
    }
    static constexpr int after(int position) { return position + 1 == shape::distance ? 0 : position + 1; }

  private:
    constexpr word32 place_of(int slot, int k, int position) const {
        constexpr ring_geometry ring = geometry();
        return ring.offset(slot * piece::count + k, at.thread, position);
    }
};

// A ring of stages for the whole block, and behind it a barrier for each. A stage holds `rows` steps, with a
// row of the block's paths for each slot. Stages not in use hold or receive at least `distance` more steps.
struct stage_geometry {
    int rows;
    int distance;
    int slots;
    int row_bytes;

    constexpr int stages() const { return (distance + rows - 1) / rows + 1; }
    constexpr word32 stage_bytes() const { return word32(rows * slots * row_bytes); }
    constexpr word32 bytes() const { return (word32(stages()) * (stage_bytes() + 8) + 15) / 16 * 16; }
    constexpr word32 offset(int stage, int row, int slot) const {
        return word32(stage) * stage_bytes() + word32((row * slots + slot) * row_bytes);
    }
    constexpr word32 barrier(int stage) const { return word32(stages()) * stage_bytes() + word32(stage) * 8; }
};

}  // namespace tilewalk::kernels
