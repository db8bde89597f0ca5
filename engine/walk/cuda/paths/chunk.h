// SPDX-License-Identifier: Apache-2.0
// A chunk, the tiles that a device walks at once: arguments and launches of its path kernels, memory for its
// results, and the merge of tiles into parts. Prices, the tuner and benchmarks all launch through this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/tile_range.h"
#include "kernels/arguments.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

struct chunk {
    std::uint64_t seed = 0, paths = 0;  // of the whole run
    run::tile_range tiles;              // tiles of the chunk
    kernels::word64 run_part_tiles = 1;

    static chunk whole(std::uint64_t seed, std::uint64_t paths);

    kernels::word32 part_tiles() const;  // tiles of a part; the chunk's last part may have fewer
    std::size_t parts() const;
};

// Device memory for the results of a chunk: a row for each output, with a number for each tile and each part.
class chunk_memory {
  public:
    chunk_memory(device& on, const reduction_entry& reduction, const chunk& of, std::size_t rows);

    static std::size_t bytes_per_tile(const reduction_entry& reduction);
    static std::size_t bytes_per_part(const reduction_entry& reduction);

    // Clears the results, so that a tile that no kernel walks merges to nothing, or shows as NaN.
    void clear(stream s);
    // Resets the counters that a walk uses up. clear() includes this.
    void begin(stream s);
    // Arguments of a path kernel except for its trades and shocks.
    kernels::path_arguments arguments() const;
    // Merges tiles into parts by the kernel of merge_kernel_text(), unless the reduction has done so.
    void merge(kernel merge_tiles, stream s);

    const chunk& walked() const { return of_; }
    // Whether this memory is large enough for `other`. Reuse it only once all work on this chunk has ended.
    bool fits(const chunk& other) const;
    void turn_to(const chunk& other) { of_ = other; }
    std::size_t bytes() const {
        return tiles_.bytes() + parts_.bytes() + finished_.bytes() + payoffs_.bytes();
    }
    // Indexed [row][tile], overwritten by merge(); and [row][part].
    kernels::tile_result* tiles() const { return tiles_.as<kernels::tile_result>(); }
    kernels::tile_result* parts() const { return parts_.as<kernels::tile_result>(); }
    std::size_t number_of_parts() const { return rows_ * of_.parts(); }
    const double* payoffs() const { return payoffs_.as<double>(); }

  private:
    std::size_t number_of_tiles() const { return rows_ * of_.tiles.count; }

    device& on_;
    const reduction_entry& reduction_;
    chunk of_;
    std::size_t rows_;
    device_memory tiles_, parts_, finished_, payoffs_;
};

launch launch_of(const program::path_program& code, const kernel_decision& how, std::uint64_t trades,
                 std::uint64_t tiles);

}  // namespace tilewalk::cuda
