// SPDX-License-Identifier: Apache-2.0
// Rows of shocks of one kind that a run's trades read. Trades with the same streams share rows: an asset's
// are made once, however many trades there are.
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
    // `streams` by slot and `names` by stream, as the trade's program and data have them. Returns its share.
    std::size_t add(std::span<const std::uint32_t> streams, int slots,
                    std::span<const program::stream_name> names, std::uint64_t steps);

    std::uint64_t rows() const;
    // Valid once all are added. Row step * slots + slot of a share holds the slot's shocks on the step.
    std::uint64_t first_row(std::size_t of) const;

    // Every stream of every share, for a source. Before it returns, slots are copied to the device into
    // `memory`, in stream `s`; they take bytes() there.
    std::vector<random::keyed_rows> keyed(device& on, std::vector<device_memory>& memory, stream s) const;
    std::size_t bytes() const;

  private:
    struct share {
        std::vector<program::place_in_stream> slots;
        std::vector<std::uint64_t> keys;  // by stream
        std::uint64_t steps = 0;
        std::uint64_t rows() const { return steps * slots.size(); }
    };
    using alike = std::pair<std::vector<std::uint32_t>, std::vector<std::uint64_t>>;
    std::map<alike, std::size_t> known_;
    std::vector<share> shares_;
};

}  // namespace tilewalk::cuda
