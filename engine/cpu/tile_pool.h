// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of many trades on all cores. Which core walks a tile, and when, changes nothing: results
// are kept by tile and merged in the run's one tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/cpu/lane_machine.h"
#include "engine/run/tally.h"

namespace tilewalk::cpu {

struct pool_progress {
    std::size_t jobs_done = 0;
    std::uint64_t path_steps_done = 0;
    // Tiles whose results were kept at once, at most so far.
    std::uint64_t most_tiles_kept = 0;
    // Rows of scenarios that were brought to 256 lanes; known once all is done.
    std::uint64_t scenario_rows_read = 0;
};

// Calls task(i) for i in [0, count) on `threads` threads, each thread with its own index, until done or
// cancelled: no task begins after `cancel` is set. The calling thread runs `watch` about ten times a second.
// The first exception of a task is thrown again here.
void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int thread, std::uint64_t i)>& task,
              const std::function<void()>& watch);

// What walk_all keeps of one job at a time.
std::uint64_t bytes_of_results(std::uint64_t paths, int threads);

// A tally for each job, of all its outputs over the tiles that it walks.
std::vector<run::tally> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                 int threads, const std::atomic<bool>* cancel,
                                 const std::function<void(const pool_progress&)>& on_progress);

}  // namespace tilewalk::cpu
