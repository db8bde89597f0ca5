// SPDX-License-Identifier: Apache-2.0
// How market arrays reach a thread: the catalogue of feeds, and what a kernel with one of them asks of a
// device. A new feed is a header in kernels/feeds/ and a line in feeds.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/kernel_choice.h"
#include "kernels/feeds/ring.h"

namespace tilewalk::cuda {

struct feed_entry {
    // What a feed makes use of.
    enum use : unsigned {
        array = 1,      // shocks from memory, not made in the kernel
        addresses = 2,  // of the array: not every space has them
        distance = 4,
        layout = 8,  // and padding
        rows = 16,
    };

    std::string_view name;
    std::string_view summary;
    unsigned uses;                                                       // of use
    int least_compute_capability;                                        // 90 is 9.0
    std::uint64_t (*shared_bytes)(const kernel_choice& how, int slots);  // that a block takes

    bool makes_use_of(use what) const { return (uses & what) != 0; }
    // In the kernel: "kernels/feeds/none.h" has the type none in tilewalk::kernels::feeds.
    std::string header() const;
    std::string type() const;
};

std::span<const feed_entry> feeds();

// Throws tilewalk::error (usage) with the known names and the nearest.
const feed_entry& feed_named(std::string_view name);

// Bytes of shared memory that the feed of a block takes, for a step of so many shocks.
std::uint64_t feed_shared_bytes(const kernel_choice& how, int slots);

// In the order of ring_layout.
inline constexpr std::array<std::string_view, 3> layout_names{"plain", "padded", "transposed"};

// The rings in shared memory of a feed that makes use of a layout.
kernels::ring_geometry ring_of(const kernel_choice& how, int slots);

// Elements that the padded layout adds to a thread's ring, also where it is left to be found.
int padding_of(const kernel_choice& how);

struct device_limits {
    int major = 0, minor = 0;  // compute capability
    std::uint64_t shared_bytes_per_block = 0;
};

// Whether a kernel can be built like this, for a step of so many shocks and a program that keeps so many rows
// of payoffs, and run there. Throws
// tilewalk::error (usage) that says what would work.
void check(const kernel_choice& how, int slots, const device_limits& device, int payoff_rows = 1);

}  // namespace tilewalk::cuda
