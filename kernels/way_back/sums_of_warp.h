// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/loops.h"
#include "kernels/path_kernel.h"
#include "kernels/way_back/arguments.h"

namespace tilewalk::kernels {

// Sums over the paths of a warp, of numbers that come a few at a time. They wait in shared memory until each
// thread can sum some by itself: summing each by shuffles would take as long as the way back itself.
template <class sum, int width, int threads>
class sums_of_warp {
  public:
    static constexpr int slots = 16;
    static constexpr word32 shared_bytes() { return threads / threads_of_warp * of_warp * sizeof(sum); }

    sums_of_warp(char* shared, double* to)
        : column_(reinterpret_cast<sum*>(shared) + threadIdx.x / threads_of_warp * of_warp +
                  threadIdx.x % threads_of_warp),
          next_(column_),
          to_(to) {}

    template <int count>
    void make_room() {
        if (used_ + count > slots) leave();
    }
    // Adds `count` numbers to sums at `place` on; of(i) is the thread's share. `has_room`: after make_room().
    template <int count, bool has_room, class numbers>
    void add(word32 place, const numbers& of) {
        if constexpr (count > slots) {
            add<slots, false>(place, of);
            add<count - slots, false>(place + slots, [&](int i) { return of(slots + i); });
        } else if constexpr (count > 0) {
            if constexpr (!has_room) make_room<count>();
            unrolled<count>([&](int i) { next_[i * pitch] = of(i); });
            const word32 mine = threadIdx.x % slots - used_;
            if (mine < word32(count)) place_ = place + mine;
            used_ += count;
            next_ += count * pitch;
        }
    }
    // Sums what shared memory holds, neighbours first, and stores the sums in memory.
    void leave() {
        constexpr int half = threads_of_warp / 2;
        static_assert(slots == half);
        __syncwarp();
        const word32 thread = threadIdx.x % threads_of_warp;
        const sum* const from = column_ - thread + thread % slots * pitch + thread / slots * half;
        sum found = tree<half>(from);
        found += __shfl_xor_sync(~0u, found, half);
        if (thread < used_) to_[place_] = double(found);
        __syncwarp();
        used_ = 0;
        next_ = column_;
    }

  private:
    static constexpr int pitch = threads_of_warp + 1, of_warp = slots * pitch;

    template <int count>
    static sum tree(const sum* numbers) {
        if constexpr (count == 1) {
            return *numbers;
        } else {
            const sum first = tree<count / 2>(numbers);
            return first + tree<count / 2>(numbers + count / 2);
        }
    }

    sum* const column_;  // the thread's number of the first slot
    sum* next_;          // that of the first free one
    double* const to_;
    word32 used_ = 0;
    word32 place_ = 0;  // of the sum in the slot that has the thread's number
};

}  // namespace tilewalk::kernels
