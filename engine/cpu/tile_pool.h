// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of many trades on all cores. Results do not depend on which core walks a tile, or when:
// they are kept by tile and merged in the run's one tree.
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
    // The most tiles so far whose results were kept at once.
    std::uint64_t most_tiles_kept = 0;
    // Rows of scenarios copied to 256 lanes; known at the end.
    std::uint64_t scenario_rows_read = 0;
};

// Calls task(i) for i in [0, count) on `threads` threads, each thread with its own index, until done or
// cancelled: no task begins after `cancel` is set. The calling thread runs `watch` about ten times a second.
// The first exception of a task is thrown again here.
void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int thread, std::uint64_t i)>& task,
              const std::function<void()>& watch);

// Bytes that walk_all keeps for one job at a time.
std::uint64_t bytes_of_results(std::uint64_t paths, int threads);

// A tally for each job, with all its outputs over the tiles that are walked.
std::vector<run::tally> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                 int threads, const std::atomic<bool>* cancel,
                                 const std::function<void(const pool_progress&)>& on_progress);

}  // namespace tilewalk::cpu
