// SPDX-License-Identifier: Apache-2.0
// The rows of a cube of shocks of one kind that the trades of a run read. Trades whose shocks are of the same
// streams share their rows: those of an asset's trades are made once, however many there are.
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
    // The shocks of a trade: `streams` by slot and the names by stream, as its program and its data have
    // them. Returns the number of its share.
    std::size_t add(std::span<const std::uint32_t> streams, int slots,
                    std::span<const program::stream_name> names, std::uint64_t steps);

    std::uint64_t rows() const;
    // The first row of a share, once all are added. Row step * slots + slot of a share holds the slot's
    // shocks on the step.
    std::uint64_t first_row(std::size_t of) const;

    // Every stream of every share, for a source. The slots are copied to the device, into `memory`, in the
    // stream `s`, before it returns; they take so many bytes there.
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
