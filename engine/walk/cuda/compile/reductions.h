// SPDX-License-Identifier: Apache-2.0
// Turn the payoffs of a tile into moments. A new one is a header in kernels/reductions/ and a line in
// reductions.cpp.
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
    std::size_t shared_bytes;  // most of a block, in the feed's memory
    bool keeps_bits;           // the same bits in every run: those of `tree`
    bool merges_tiles;         // merges the tiles of a trade, too: no second kernel
    bool stores_payoffs;       // in device memory, for device::reduce_stored

    // "kernels/reductions/tree.h" has the type tree in tilewalk::kernels::reductions.
    std::string header() const;
};

std::span<const reduction_entry> reductions();

void check(const reduction_entry& reduction, const device_properties& on);

// Throws tilewalk::error (usage) with the known names and the nearest.
const reduction_entry& reduction_named(std::string_view name);

}  // namespace tilewalk::cuda
