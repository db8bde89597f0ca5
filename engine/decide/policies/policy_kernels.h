// SPDX-License-Identifier: Apache-2.0
// The kernels that train policies: one walks the training paths, the others are the backward induction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/decide/exercise/training.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "kernels/exercise/backward_arguments.h"

namespace tilewalk::cuda {

inline constexpr std::uint32_t threads_of_gain = 1024;

struct policy_kernels {
    // The kernel `leave` walks training paths; each block walks a tile. It takes kernels::leaving_arguments.
    built_kernel leaving;
    std::uint32_t leaving_threads = 0, leaving_shared_bytes = 0;
    // Kernels of the backward induction in three texts, which compile in parallel: work on all dates at once,
    // sums, and the sweep from date to date; see kernels/exercise/backward_kernel.h.
    built_kernel of_dates, of_sums, of_sweep;
    std::array<built_kernel*, 4> all() { return {&leaving, &of_dates, &of_sums, &of_sweep}; }
    std::array<const built_kernel*, 4> all() const { return {&leaving, &of_dates, &of_sums, &of_sweep}; }
    kernels::backward_sizes sizes{};
    // Size of a block that sums functions or moves. It depends on whether a lane has few sums.
    struct block_of_sums {
        std::uint32_t threads, bytes;
    };
    block_of_sums sums(bool are_few) const {
        if (are_few) return {kernels::backward_sizes::threads_of_lanes, bytes_of(sizes.lanes_doubles())};
        return {kernels::paths_of_block, tile_bytes()};
    }
    std::uint32_t sweep_bytes(std::size_t fits) const {
        return bytes_of(sizes.sweep_doubles(static_cast<int>(fits)));
    }
    std::uint32_t tile_bytes() const { return bytes_of(sizes.tile_doubles()); }
    std::uint32_t date_bytes() const { return bytes_of(sizes.date_doubles()); }
    // Returns the most shared memory of a block for tiles, dates or the sweep, with so many fits on a date.
    std::uint32_t most_bytes(std::size_t fits) const {
        return bytes_of(sizes.most_doubles(static_cast<int>(fits)));
    }

  private:
    static std::uint32_t bytes_of(int doubles) {
        return static_cast<std::uint32_t>(doubles) * static_cast<std::uint32_t>(sizeof(double));
    }
};
policy_kernels policy_kernels_of(const exercise::untrained& of,
                                 kernels::path_reads reads = kernels::path_reads::register_rolling);
// Returns how training kernels read paths: as the run's prefetch strategy does, or the nearest kind.
kernels::path_reads path_reads_of(const kernel_wish& how);

}  // namespace tilewalk::cuda
