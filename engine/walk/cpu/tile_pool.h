// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of many trades on all cores. Results are stored by tile and merged in the run's fixed
// summation tree, so they do not depend on which core walks a tile, or when.
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
    std::uint64_t most_tiles_kept = 0;
    // Set only in the last report.
    std::uint64_t scenario_rows_read = 0;
};

// Most bytes that walk_all holds in results of a job with one output and no derivatives.
std::uint64_t bytes_of_results(std::uint64_t paths, int threads);

// Threads that persist from walk to walk, each with a lane machine. Only one thread may call at a time.
class tile_pool {
  public:
    tile_pool(const lane_operations& operations, int threads) : operations_(operations), crew_(threads) {}

    // Returns a tally for each job. The calling thread takes part, and reports progress ten times a second.
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

std::vector<run::tally> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                 int threads, const std::atomic<bool>* cancel,
                                 const std::function<void(const pool_progress&)>& on_progress);

}  // namespace tilewalk::cpu
