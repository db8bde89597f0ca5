// SPDX-License-Identifier: Apache-2.0
// Walks the paths of a run: on GPUs, on the CPU or on both, and the first tiles in double to compare.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/progress_reporter.h"
#include "engine/decide/settled.h"
#include "engine/decide/walked_trade.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/study/session/gpus_ahead.h"
#include "engine/study/session/handover.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/job.h"
#include "engine/walk/kept/work.h"
#include "engine/walk/units.h"
#include "kernels/tile_result.h"
#include "tilewalk/manifest.h"

namespace tilewalk::studies {

using cpu_maker = std::function<std::unique_ptr<run::back_end>(const cpu::lane_operations&, int threads,
                                                               program::precision)>;

// A store of tallies: walks take known ones from it, and keep new ones in it.
struct known_tallies {
    std::shared_ptr<kept::work> work{};  // null: all is walked, nothing kept
    std::vector<std::string> arrays{};   // hashes of the run's arrays of scenarios, by number

    kept::conditions conditions(const settled& run) const;
    // Returns the conditions of the first tiles, which are walked again to compare with double.
    kept::conditions conditions_of_shadows(const settled& run, program::precision in) const;
};

// The devices of a walk, and what it leaves there.
struct walkers {
    cuda::backend& gpus;
    gpus_of_run& on;
    const cpu::lane_operations& operations;
    cpu_maker on_cpu;
    ready_on_gpus* keeps = nullptr;       // takes the run for another call; null to drop it
    cuda::ways_back::decider way_back{};  // decides how adjoints are built; empty: by the usual rules
};

class book_walk {
  public:
    // `all` says which paths to walk; its jobs and progress are set for each walk.
    book_walk(std::vector<planned>& plans, const settled& run, run::walk all, progress_reporter& reporter,
              const known_tallies& known);

    // Throws tilewalk::error (input) if nothing may be walked and a tally is not known.
    void take_known();
    // Walks what is not known. For device `auto` the processor begins unless GPUs are ready, if both give the
    // same bits. A trade that GPUs can't walk goes to the processor if allowed and possible, else it fails
    // with the GPU's error.
    void walk(const walkers& by, run_manifest& manifest);
    // Compares the first tiles of every trade with double, unless the run is in double.
    void take_shadows(const cpu::lane_operations& operations, const cpu_maker& make);

    // Returns walked trades by plan; empty where a trade walked no path or failed.
    std::vector<std::optional<walked_trade>> take_walked() { return std::move(walked_); }
    // Returns the path-steps of the plan that GPUs walked.
    std::uint64_t steps_on_gpus(std::size_t plan) const { return steps_on_gpus_[plan]; }

  private:
    bool has_same_bits_on_gpus() const;
    void on_gpus(const walkers& by, run_manifest& manifest);
    void on_cpu(run::back_end& on);
    void on_both(const walkers& by, run_manifest& manifest);
    // Whether an earlier call left these trades on the GPUs.
    bool are_kept_on_gpus(const walkers& by) const;
    void tell_of_both(const walkers& by, const handover& shared, std::span<const std::size_t> trades,
                      run_manifest& manifest);
    bool takes_points(std::size_t trade) const;
    bool is_quasi(std::size_t trade) const;
    std::vector<std::optional<error>> walk(const kept::walker& on, const run::walk& asked,
                                           std::span<const run::job> named, const kept::conditions& by,
                                           const kept::tally_callback& take);
    run::outcome walk(run::back_end& on, const run::walk& asked, std::span<const run::job> named,
                      const kept::conditions& by);
    // Returns the jobs that identify trades in the store; none without a store.
    std::vector<run::job> named(const std::vector<std::size_t>& trades) const;
    void take_known_samples(const std::vector<std::size_t>& trades);
    void walk_on_gpus(const std::vector<std::size_t>& trades, bool has_points, cuda::backend& gpus,
                      const cuda::backend::choice& on, cuda::gpu_facts& total, ready_on_gpus* keeps);
    // Returns the precision or source that the CPU lacks, and what to use instead; empty if none.
    std::string lack_of_cpu() const;
    // Returns the trades whose adjoints a GPU can walk. The others go to the CPU, or fail if it lacks
    // something.
    std::vector<std::size_t> choose_both_ways(const std::vector<std::size_t>& trades);
    void tell_left_both_ways(std::span<const std::size_t> trades, std::vector<left_work>& to) const;
    void walk_both_ways(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                        const cuda::backend::choice& on, cuda::gpu_facts& total,
                        const cuda::ways_back::decider& by);
    void take_gpu_outcome(const std::vector<std::size_t>& trades, run::outcome& got, bool is_quasi,
                          bool cpu_can);
    void take_gpu_sample(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                         const cuda::backend::choice& on, cuda::gpu_settings with, run::walk asked,
                         cuda::gpu_facts& facts, cuda::ready_run& keeps);

    std::vector<planned>& plans_;
    const settled& run_;
    run::walk all_;
    progress_reporter& reporter_;
    const known_tallies& known_;
    std::uint64_t steps_known_ = 0;  // path-steps of known tallies
    std::vector<std::size_t> left_;  // trades still to be walked
    std::vector<std::optional<walked_trade>> walked_;
    std::vector<std::uint64_t> steps_on_gpus_;  // by plan
};

void add_kernels(const cuda::gpu_facts& of, run_manifest& manifest);

// Lays trades out in united programs while GPUs open; the walk then finds them.
void seat_ahead(std::span<const planned> plans, const settled& run, ready_on_gpus& into);

}  // namespace tilewalk::studies
