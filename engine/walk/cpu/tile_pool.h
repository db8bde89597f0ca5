// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of many trades on all cores. Results do not depend on which core walks a tile, or when:
// they are kept by tile and merged in the run's one tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/base/crew.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/tally.h"

namespace tilewalk::cpu {

struct pool_progress {
    std::size_t jobs_done = 0;
    std::uint64_t path_steps_done = 0;
    // The most tiles so far whose results were kept at once.
    std::uint64_t most_tiles_kept = 0;
    // Rows of scenarios copied to 256 lanes; known at the end.
    std::uint64_t scenario_rows_read = 0;
};

// Bytes that walk_all keeps for one job at a time.
std::uint64_t bytes_of_results(std::uint64_t paths, int threads);

// Threads that walk tiles, each with its lane machine, kept from walk to walk. One caller at a time.
class tile_pool {
  public:
    tile_pool(const lane_operations& operations, int threads) : operations_(operations), crew_(threads) {}

    // A tally for each job, of all its outputs over the tiles that it walks. The calling thread walks, too,
    // and tells of progress about ten times a second.
    std::vector<run::tally> walk_all(std::span<const path_job> jobs, const std::atomic<bool>* cancel,
                                     const std::function<void(const pool_progress&)>& on_progress);

    const lane_operations& operations() const { return operations_; }
    threads::crew& crew() { return crew_; }

  private:
    struct worker {
        lane_machine machine;
        std::vector<tile_result> results;
        std::vector<double> derivatives;
    };
    std::uint64_t scenario_rows_read() const;

    const lane_operations& operations_;
    threads::crew crew_;
    std::vector<worker> workers_;
};

// Uses a pool of this call alone.
std::vector<run::tally> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                 int threads, const std::atomic<bool>* cancel,
                                 const std::function<void(const pool_progress&)>& on_progress);

}  // namespace tilewalk::cpu
