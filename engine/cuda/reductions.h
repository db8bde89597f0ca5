// SPDX-License-Identifier: Apache-2.0
// How the payoffs of a tile become its moments: the catalogue of reductions. A new one is a header in
// kernels/reductions/ and a line in reductions.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/cuda/device.h"

namespace tilewalk::cuda {

struct reduction_entry {
    std::string_view name;
    std::string_view summary;
    std::size_t shared_bytes;  // that a block takes at most, where the feed's memory was
    bool keeps_bits;           // a result is the same in every run, and that of `tree`
    bool merges_tiles;         // of each trade, too, so that no kernel has to
    bool stores_payoffs;       // in device memory, for device::reduce_stored

    // In the kernel: "kernels/reductions/tree.h" has the type tree in tilewalk::kernels::reductions.
    std::string header() const;
};

std::span<const reduction_entry> reductions();

// Throws tilewalk::error (usage) if the device can't sum in this way.
void check(const reduction_entry& reduction, const device_properties& on);

// Throws tilewalk::error (usage) with the known names and the nearest.
const reduction_entry& reduction_named(std::string_view name);

}  // namespace tilewalk::cuda
