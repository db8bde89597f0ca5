// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/path_kernel.h"

namespace tilewalk::kernels {

// Shocks in memory, read from the last step of a path to its first.
template <class source>
struct backwards {
    const source& from;
    int last;
    auto at(int step, int slot) const { return from.at(last - step, slot); }
};

// The shocks of a block's pass, [step][slot][path of the pass], written on the way forward for the way back.
template <class choice>
class kept_shocks {
  public:
    using shape = typename choice::shape;
    using element = typename shape::shock;
    using place = const element*;
    using array = array_source<typename choice::back_shape, shape::slots, place>;

    kept_shocks(void* of_launch, word32 block, word32 most_steps)
        : first_(static_cast<element*>(of_launch) + word64(block) * most_steps * of_step +
                 word64(int(threadIdx.x) * shape::width)) {}

    template <class shocks>
    void keep(int step, const shocks& z) const {
        using piece = pieces<shape>;
        unrolled<shape::slots>([&](int slot) {
            unrolled<piece::count>([&](int k) {
                typename piece::type out{};
                unrolled<piece::paths>([&](int w) { out.x[w] = z[k * piece::paths + w][slot]; });
                *reinterpret_cast<typename piece::type*>(
                    first_ + (word64(step) * of_step + word64(slot) * of_slot + word64(k * piece::paths))) =
                    out;
            });
        });
    }
    array from(int step) const { return source(step, of_step); }
    array back_from(int step) const { return source(step, ~of_step + 1); }

  private:
    static constexpr word64 of_slot = shape::width * shape::threads, of_step = of_slot * shape::slots;
    array source(int step, word64 stride) const {
        return {{first_ + word64(step) * of_step, stride, of_slot}, {first_, 0, 0}};
    }

    element* const first_;
};

}  // namespace tilewalk::kernels
