// SPDX-License-Identifier: Apache-2.0
// The catalogue of reductions, which turn the payoffs of a tile into moments. A new reduction is a header in
// kernels/reductions/ and a line in reductions.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

struct reduction_entry {
    std::string_view name;
    std::string_view summary;
    std::size_t shared_bytes;  // bytes for the largest block, in the memory of the feed
    bool keeps_bits;           // gives the bits of `tree` in every run
    bool merges_tiles;         // also merges the tiles of a trade, so that no second kernel is needed
    bool stores_payoffs;       // writes payoffs to device memory, for device::reduce_stored

    // header() "kernels/reductions/tree.h" defines the type `tree` in tilewalk::kernels::reductions.
    std::string header() const;
};

std::span<const reduction_entry> reductions();

void check(const reduction_entry& reduction, const device_properties& on);

// Throws tilewalk::error (usage), listing the known names and the nearest one.
const reduction_entry& reduction_named(std::string_view name);

}  // namespace tilewalk::cuda
