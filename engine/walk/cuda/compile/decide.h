// SPDX-License-Identifier: Apache-2.0
// Turns a wish into a decision how a path kernel is built.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "engine/walk/cuda/compile/feeds.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

// Whether devices can run such a kernel for `slots` shocks a step.
using fits_devices = std::function<bool(const kernel_decision&, int slots)>;

// `measured`, if any, was the fastest on such a device: taken if the wish is open and it fits.
kernel_decision decide(const kernel_wish& wish, const program::path_program& p, const fits_devices& fits,
                       const kernel_decision* measured = nullptr);

// Calls use(wish) for every setting of the feed's knobs. values(knob) lists what to try; empty: as wished.
template <class values_of, class body>
void for_each_setting(const feed_entry& feed, kernel_wish wish, const values_of& values, const body& use,
                      std::size_t from = 0) {
    if (from == knob_table.size()) return use(wish);
    const knob_id k{from};
    const bool is_there = k.line().of == knob::part::kernel || feed.makes_use_of(k);
    const std::span<const int> tried = is_there ? values(k) : std::span<const int>();
    if (tried.empty()) return for_each_setting(feed, wish, values, use, from + 1);
    for (const int value : tried) {
        wish[k] = value;
        for_each_setting(feed, wish, values, use, from + 1);
    }
}

kernel_decision with_presets(const kernel_wish& wish);

// "smem_rolling_async, distance 8, transposed, width 4, block 256"
std::string described(const kernel_decision& how);

}  // namespace tilewalk::cuda
