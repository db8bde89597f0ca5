// SPDX-License-Identifier: Apache-2.0
// A chunk of a run on a device: arguments and launch of its path kernels, memory of its results, and how
// tiles become parts. Prices, the tuner and benchmarks all launch through here.
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
    std::uint64_t seed = 0, paths = 0;  // the run's
    run::tile_range tiles;              // walked at once
    kernels::word64 run_part_tiles = 1;

    static chunk whole(std::uint64_t seed, std::uint64_t paths);

    kernels::word32 part_tiles() const;  // the last part may have fewer
    std::size_t parts() const;
};

// Memory for results: a row for each result of a trade, with a place for each tile and each part.
class chunk_memory {
  public:
    chunk_memory(device& on, const reduction_entry& reduction, const chunk& of, std::size_t rows);

    static std::size_t bytes_per_tile(const reduction_entry& reduction);
    static std::size_t bytes_per_part(const reduction_entry& reduction);

    // Clears results: a tile that no kernel walks merges to nothing, or is found as NaN.
    void clear(stream s);
    // Resets the counts that a walk uses up; clear() does so, too.
    void begin(stream s);
    // Without trades and shocks.
    kernels::path_arguments arguments() const;
    // Merges tiles, unless the reduction does, with the kernel of merge_kernel_text().
    void merge(kernel merge_tiles, stream s);

    const chunk& of() const { return of_; }
    // Whether this memory can serve another chunk, once all work on the present one has ended.
    bool fits(const chunk& other) const;
    void turn_to(const chunk& other) { of_ = other; }
    std::size_t bytes() const {
        return tiles_.bytes() + parts_.bytes() + finished_.bytes() + payoffs_.bytes();
    }
    // [row][tile], which merge uses up, and [row][part].
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
