// SPDX-License-Identifier: Apache-2.0
// The state of one run on GPUs, shared by its threads: jobs by kernel, the plan of their shocks, the outcome
// so far. A later run of the same programs may reuse it.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/paths/moves_walk.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/paths/shock_cubes.h"
#include "engine/walk/tally.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

struct job_group {
    built_kernel walk;
    built_kernel correlate;  // makes the moves that `walk` reads; no text if `walk` reads shocks
    const program::path_program* code = nullptr;
    kernel_decision how;
    std::vector<std::size_t> jobs;  // longest first
    bool failed = false;            // whether it does not compile or some device can't run it

    bool reads_moves() const { return !correlate.text.empty(); }
    std::size_t factors() const { return static_cast<std::size_t>(code->normals_per_step); }
    bool reads_shocks() const { return cuda::reads_shocks(how); }
    // Whether paths meet targets, which are in the array of normals.
    bool meets_targets() const { return way_of_points(how) == point_way::targets; }
    bool makes_points() const { return way_of_points(how) == point_way::made; }
    bool reads_scenarios() const { return code->scenarios_per_step > 0; }
    // Whether neighbouring blocks walk the same tile of different trades, which read the same array elements.
    bool walks_trades_side_by_side() const { return reads_shocks() || meets_targets() || reads_scenarios(); }
};

struct run_state {
    separated_jobs separated;
    gpu_run run;  // its jobs are those of `separated`
    packed_trades packed;
    packed_changes changes;  // since the previous run, if this state is reused
    std::vector<job_group> groups;
    std::optional<shock_plan> shocks;  // empty if nothing is read from arrays
    moves_cubes::needs moves;          // rows is 0 if no job reads moves
    // By job: first row of the shocks from which its moves are made.
    std::vector<kernels::word32> shocks_of_moves;
    kernels::word64 part_tiles = 1;  // tiles that a device merges; the host merges parts
    kernels::word64 most_tiles = 0;  // of the largest piece
    built_kernel merge;
    std::mutex lock;  // guards `outcome`
    gpu_outcome outcome;
    std::atomic<kernels::word64> path_steps_done{0};
    std::atomic<bool> given_up{false};  // the run has failed, so workers stop

    explicit run_state(const gpu_run& asked)
        : separated(asked.jobs, asked.correlation, asked.how.precision),
          run(asked),
          packed(pack(separated.jobs(), program::real_type(asked.how.precision), asked.threads)),
          shocks_of_moves(separated.jobs().size()),
          part_tiles(asked.part_tiles()) {}

    // Begins a run on this state. Of all jobs, only those that can't be packed have failed.
    void begin(const gpu_run& asked) {
        run = asked;
        run.jobs = separated.jobs();
        outcome = {};
        outcome.tallies.assign(run.jobs.size(), run::tally(kernels::tiles_of(run.paths)));
        outcome.failures = packed.failures;
        path_steps_done = 0;
        given_up = false;
    }
    bool stopped() const { return given_up || (run.cancel != nullptr && run.cancel->load()); }
    void fail(const std::vector<std::size_t>& jobs, const error& why) {
        const std::lock_guard guard(lock);
        for (const std::size_t j : jobs) {
            if (!outcome.failures[j]) outcome.failures[j] = why;
        }
    }
    void fail_all(const error& why) {
        for (const job_group& g : groups) fail(g.jobs, why);
    }
};

inline void throw_if_stopped(const run_state& run) {
    if (run.stopped()) throw stopped_early{};
}

}  // namespace tilewalk::cuda
