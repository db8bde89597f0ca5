// SPDX-License-Identifier: Apache-2.0
// Walks ranges of tiles for all jobs of a run on one device, in chunks that fit into its memory.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/chunk.h"
#include "engine/walk/cuda/paths/chunk_room.h"
#include "engine/walk/cuda/paths/launch_queue.h"
#include "engine/walk/cuda/paths/moves_walk.h"
#include "engine/walk/cuda/paths/run_state.h"
#include "engine/walk/cuda/paths/staged_shocks.h"
#include "engine/walk/cuda/paths/trades_on_device.h"
#include "engine/walk/tile_range.h"
#include "kernels/tile_result.h"

namespace tilewalk::cuda {

struct chunk_results {
    run::tile_range tiles;
    std::vector<kernels::tile_result> results;  // indexed [row][part of the chunk]
};

class device_walk {
  public:
    // Uploads the trades of `run`, which must outlive this.
    device_walk(loaded_device& on, run_state& run);

    // Prepares for another run on the same run_state, after one that succeeded. Uploads only changed trades.
    void begin_again();
    // Waits for the uploads of begin_again(), which is needed if walk() was not called since.
    void settle() { const in_flight changes(device_, {main_.get()}); }
    // Bytes that this would hold until the next run; empty if the next run had better begin anew.
    std::optional<std::size_t> bytes_left() const;

    // Walks a range in chunks, in smaller ones if memory runs out. `following` is the range of the next call,
    // if known. Throws device_error, or stopped_early if the run is stopped.
    void walk(const run::tile_range& range, std::vector<chunk_results>& into,
              const run::tile_range& following = {});

    // Path steps counted as done. uncount(n) goes back to n, as after a walk that failed.
    kernels::word64 counted() const { return counted_; }
    void uncount(kernels::word64 down_to);

    double seconds() const { return seconds_; }
    double kernel_seconds() const { return kernel_seconds_; }
    std::size_t launches() const { return launches_; }

  private:
    run::tile_range first_chunk(run::tile_range of) const;
    kernels::word64 chunk_tiles() const;
    void shrink_to(kernels::word64 tiles);
    chunk_results walk_at_once(const run::tile_range& range, const run::tile_range& next);
    void open_memory(const chunk& of);
    void open_shocks();
    std::vector<stream> streams() const;
    stream begun(std::size_t side);
    std::vector<owned_event> join_sides();
    kernels::tile_result* landing_for(std::vector<kernels::tile_result>& results);
    void launch_groups(launch_queue& queue);
    void launch_group(std::size_t group, launch_queue& queue);
    std::size_t sides_of(const job_group& g) const;
    kernels::array_argument make_moves(const job_group& g, const job_list& list, const run::tile_range& chunk,
                                       std::size_t side, const kernels::array_argument& shocks);
    kernels::path_arguments arguments_of(std::size_t group, const job_list& list) const;
    kernels::word64 path_steps(const job_group& g, const job_list& list, const run::tile_range& range) const;

    loaded_device& on_;
    device& device_;
    run_state& run_;
    const reduction_entry& reduction_;
    owned_stream main_;                  // clears, merges and downloads results
    std::array<owned_stream, 3> sides_;  // walk paths
    owned_stream fills_;                 // fills cubes of shocks
    trades_on_device trades_;
    chunk_room room_;
    std::optional<staged_shocks> shocks_;  // created for the first chunk if the run has any
    std::optional<moves_cubes> moves_;
    std::optional<chunk_memory> results_;  // memory of the last chunk
    std::optional<pinned_memory> landing_;
    std::optional<owned_event> cleared_;  // when results_ was cleared for the chunk
    std::array<bool, 3> has_begun_{};     // by side: whether it has work of the chunk
    std::size_t next_side_ = 0;
    bool is_cut_ = false;          // whether a range did not fit at once
    kernels::word64 counted_ = 0;  // this device's share of run_state::path_steps_done
    double seconds_ = 0, kernel_seconds_ = 0;
    std::size_t launches_ = 0;
};

}  // namespace tilewalk::cuda
