// SPDX-License-Identifier: Apache-2.0
// Feeds, the ways in which market arrays reach a thread: their catalogue, and what a kernel with one of them
// asks of a device. A new feed is a header in kernels/feeds/ and a line in feeds.cpp.
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
    // Things that a feed makes use of besides knobs.
    enum use : unsigned {
        array = 1,      // shocks from memory, not made in the kernel
        addresses = 2,  // the array's, which not every space has
    };

    std::string_view name;
    std::string_view summary;
    unsigned uses;                                                         // bits of use
    knob_set knobs;                                                        // without those of every kernel
    int least_compute_capability;                                          // 90 is 9.0
    std::uint64_t (*shared_bytes)(const kernel_decision& how, int slots);  // taken by a block

    bool makes_use_of(use what) const { return (uses & what) != 0; }
    bool makes_use_of(knob_id k) const { return knobs.has(k); }
    // In the kernel: "kernels/feeds/none.h" has the type none in tilewalk::kernels::feeds.
    std::string header() const;
    std::string type() const;
    // The knobs that are the feed's own, as arguments of the type behind the shape and the memory: ", 3".
    std::string own_arguments(const kernel_decision& how) const;
};

std::span<const feed_entry> feeds();

// Throws tilewalk::error (usage) with the known names and the nearest.
const feed_entry& feed_named(std::string_view name);

// The feed that is asked for, or the one that a wish gets where it leaves the feed open.
const feed_entry& feed_of(const kernel_wish& wish);
// Whether its kernels read shocks from arrays.
bool reads_shocks(const kernel_wish& wish);
bool reads_shocks(const kernel_decision& how);
// How points reach its paths: a feed of arrays reads all of them.
point_way way_of_points(const kernel_decision& how);

// Bytes of shared memory that the feed of a block takes, for a step of so many shocks.
std::uint64_t feed_shared_bytes(const kernel_decision& how, int slots);

// The rings in shared memory of a feed that makes use of a layout.
kernels::ring_geometry ring_of(const kernel_decision& how, int slots);

// Elements that the padded layout adds to a thread's ring where nobody says how many: as few as keep it free
// of bank conflicts.
int found_padding(int distance);

struct device_limits {
    int major = 0, minor = 0;  // compute capability
    std::uint64_t shared_bytes_per_block = 0;
};

// Throws tilewalk::error (usage), which says what would work, if no kernel can be built like this, for a step
// of so many shocks and a program that keeps so many rows of payoffs, and run there.
void check(const kernel_decision& how, int slots, const device_limits& device, int payoff_rows = 1);

}  // namespace tilewalk::cuda
