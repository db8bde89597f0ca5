// SPDX-License-Identifier: Apache-2.0
// Plans the rows of an array of random numbers that all trades of a run read. Trades with the same streams
// share rows, so an asset's numbers are made once however many trades it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/random_source.h"
#include "products/program/streams.h"

namespace tilewalk::cuda {

class noise_rows {
  public:
    // Adds a trade, by its `streams` (by slot) and `names` (by stream). Returns its share: a group of rows.
    std::size_t add(std::span<const std::uint32_t> streams, int slots,
                    std::span<const program::stream_name> names, std::uint64_t steps);

    std::uint64_t rows() const;
    // First row of a share, once all trades are added. Slot k of step t has row first_row + t * slots + k.
    std::uint64_t first_row(std::size_t of) const;

    // Rows of every stream, for a random source. Uploads their slots, which take bytes() on the device, to
    // `memory` in stream `s`, and waits.
    std::vector<random::keyed_rows> keyed(device& on, std::vector<device_memory>& memory, stream s) const;
    std::size_t bytes() const;

  private:
    struct share {
        std::vector<program::place_in_stream> slots;
        std::vector<std::uint64_t> keys;  // name of each stream as a number
        std::uint64_t steps = 0;
        std::uint64_t rows() const { return steps * slots.size(); }
    };
    using alike = std::pair<std::vector<std::uint32_t>, std::vector<std::uint64_t>>;
    std::map<alike, std::size_t> known_;
    std::vector<share> shares_;
};

}  // namespace tilewalk::cuda
