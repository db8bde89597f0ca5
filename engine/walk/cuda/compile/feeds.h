// SPDX-License-Identifier: Apache-2.0
// Feeds, the ways in which arrays reach a thread: their catalogue, and their demands on a device. A new feed
// is a header in kernels/feeds/ and a line in feeds.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "kernels/feeds/ring.h"

namespace tilewalk::cuda {

struct feed_entry {
    enum use : unsigned {
        array = 1,      // shocks from memory, not made in the kernel
        addresses = 2,  // the address of the array, which not every space has
    };

    std::string_view name;
    std::string_view summary;
    unsigned uses;                                                         // bits of use
    knob_set knobs;                                                        // without those of every kernel
    int least_compute_capability;                                          // 90 is 9.0
    std::uint64_t (*shared_bytes)(const kernel_decision& how, int slots);  // for a block

    bool makes_use_of(use what) const { return (uses & what) != 0; }
    bool makes_use_of(knob_id k) const { return knobs.has(k); }
    // "kernels/feeds/none.h" has the type none in tilewalk::kernels::feeds.
    std::string header() const;
    std::string type() const;
    // The feed's own knobs as arguments of its type, behind the shape and the memory: ", 3".
    std::string own_arguments(const kernel_decision& how) const;
};

std::span<const feed_entry> feeds();

// Throws tilewalk::error (usage) with the known names and the nearest.
const feed_entry& feed_named(std::string_view name);

const feed_entry& feed_of(const kernel_wish& wish);
bool reads_shocks(const kernel_wish& wish);
bool reads_shocks(const kernel_decision& how);
// Feeds of arrays read all points.
point_way way_of_points(const kernel_decision& how);

// For a block and `slots` shocks a step.
std::uint64_t feed_shared_bytes(const kernel_decision& how, int slots);

kernels::ring_geometry ring_of(const kernel_decision& how, int slots);

// Default padding of a thread's ring in elements: the smallest that avoids bank conflicts.
int found_padding(int distance);

struct device_limits {
    int major = 0, minor = 0;  // compute capability
    std::uint64_t shared_bytes_per_block = 0;
};

// Throws tilewalk::error (usage) with what would work if no such kernel can be built and run there, for
// `slots` shocks a step and `payoff_rows` rows of payoffs.
void check(const kernel_decision& how, int slots, const device_limits& device, int payoff_rows = 1);

}  // namespace tilewalk::cuda
