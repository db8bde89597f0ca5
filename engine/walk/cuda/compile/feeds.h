// SPDX-License-Identifier: Apache-2.0
// The catalogue of feeds, the ways in which shocks reach a thread of a path kernel, and what each needs of a
// device. A new feed is a header in kernels/feeds/ and a line in feeds.cpp.
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
        array = 1,      // reads shocks from an array; without, the kernel draws them
        addresses = 2,  // takes addresses of the array, which some spaces don't have
    };

    std::string_view name;
    std::string_view summary;
    unsigned uses;                 // bits of `use`
    knob_set knobs;                // knobs of the feed, without those that every kernel has
    int least_compute_capability;  // 90 stands for 9.0
    std::uint64_t (*shared_bytes)(const kernel_decision& how, int slots);  // bytes a block

    bool makes_use_of(use what) const { return (uses & what) != 0; }
    bool makes_use_of(knob_id k) const { return knobs.has(k); }
    // header() "kernels/feeds/none.h" defines type() "none" in tilewalk::kernels::feeds.
    std::string header() const;
    std::string type() const;
    // The feed's own knobs as template arguments, after the shape and the memory, such as ", 3".
    std::string own_arguments(const kernel_decision& how) const;
};

std::span<const feed_entry> feeds();

// Throws tilewalk::error (usage), listing the known names and the nearest one.
const feed_entry& feed_named(std::string_view name);

const feed_entry& feed_of(const kernel_wish& wish);
bool reads_shocks(const kernel_wish& wish);
bool reads_shocks(const kernel_decision& how);
// How quasi-random points reach paths: how.points, except that a feed that reads shocks from arrays finds all
// points there, and makes none.
point_way way_of_points(const kernel_decision& how);

// Shared memory of the feed for a block, with `slots` shocks a step.
std::uint64_t feed_shared_bytes(const kernel_decision& how, int slots);

kernels::ring_geometry ring_of(const kernel_decision& how, int slots);

// The default padding of a ring in shared memory, in elements: the smallest that avoids bank conflicts.
int found_padding(int distance);

struct device_limits {
    int major = 0, minor = 0;  // compute capability
    std::uint64_t shared_bytes_per_block = 0;
};

// Throws tilewalk::error (usage), saying what would work, if a kernel for `slots` shocks a step and
// `payoff_rows` payoffs can't be built in this way or can't run on the device.
void check(const kernel_decision& how, int slots, const device_limits& device, int payoff_rows = 1);

}  // namespace tilewalk::cuda
