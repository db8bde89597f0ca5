// SPDX-License-Identifier: Apache-2.0
// Walks the paths of a run: on GPUs, the rest on the CPU, and the shadow sample.
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
#include "engine/decide/settled.h"
#include "engine/decide/teller.h"
#include "engine/decide/walked_trade.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/job.h"
#include "engine/walk/kept/work.h"
#include "engine/walk/units.h"
#include "kernels/tile_result.h"
#include "tilewalk/manifest.h"

namespace tilewalk::verbs {

using cpu_maker = std::function<std::unique_ptr<run::back_end>(const cpu::lane_operations&, int threads,
                                                               program::precision)>;

// Source of known tallies for walks, and store of new ones.
struct keeping {
    std::shared_ptr<kept::work> work{};  // null: walk all, keep nothing
    std::vector<std::string> arrays{};   // fingerprints of the run's arrays of scenarios, by number

    kept::conditions conditions(const settled& run) const;
    // For the first tiles, which are compared with double.
    kept::conditions conditions_of_shadows(const settled& run, program::precision in) const;
};

class book_walk {
  public:
    // all` says which paths; walks set its jobs and its progress.
    book_walk(std::vector<planned>& plans, const settled& run, run::walk all, teller& tells,
              const keeping& keeps);

    // Throws tilewalk::error (input) if everything has to be known and is not.
    void take_known();
    // Walks what GPUs can. The rest is left to the CPU if allowed and possible, else it fails with the GPU's
    // error. `keeps` takes the run for another call; `way_back` decides how kernels are built; both are
    // optional.
    void on_gpus(cuda::backend& gpus, const cuda::backend::choice& on, run_manifest& told,
                 ready_on_gpus* keeps = nullptr, const cuda::ways_back::decider& way_back = {});
    void on_cpu(const cpu::lane_operations& operations, const cpu_maker& make);
    // Compares the first tiles of every trade with double, unless the run is in double.
    void take_shadows(const cpu::lane_operations& operations, const cpu_maker& make);

    // By trade; empty if it needed no path, or failed.
    std::vector<std::optional<walked_trade>> take_walked() { return std::move(walked_); }

  private:
    bool takes_points(std::size_t trade) const;
    bool is_quasi(std::size_t trade) const;
    std::vector<std::optional<error>> walk(const kept::walker& on, const run::walk& asked,
                                           std::span<const run::job> named, const kept::conditions& by,
                                           const kept::taker& take);
    run::outcome walk(run::back_end& on, const run::walk& asked, std::span<const run::job> named,
                      const kept::conditions& by);
    // Returns the jobs by which a store knows trades; none without a store.
    std::vector<run::job> named(const std::vector<std::size_t>& trades) const;
    void take_known_samples(const std::vector<std::size_t>& trades);
    void walk_on_gpus(const std::vector<std::size_t>& trades, bool has_points, cuda::backend& gpus,
                      const cuda::backend::choice& on, cuda::gpu_facts& told, ready_on_gpus* keeps);
    // Returns the precision or the numbers that the CPU lacks, and what to take instead; empty if none.
    std::string lack_of_cpu() const;
    // Returns the trades that a GPU can walk both ways. The rest is left, or fails if the CPU lacks
    // something.
    std::vector<std::size_t> choose_both_ways(const std::vector<std::size_t>& trades,
                                              std::vector<left_work>& told_left);
    void walk_both_ways(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                        const cuda::backend::choice& on, cuda::gpu_facts& told,
                        const cuda::ways_back::decider& by);
    void take_gpu_outcome(const std::vector<std::size_t>& trades, run::outcome& got, bool is_quasi,
                          bool cpu_can);
    void take_gpu_sample(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                         const cuda::backend::choice& on, cuda::gpu_settings with, run::walk asked,
                         cuda::gpu_facts& facts, cuda::ready_run& keeps);

    std::vector<planned>& plans_;
    const settled& run_;
    run::walk all_;
    teller& tells_;
    const keeping& keeps_;
    std::uint64_t steps_known_ = 0;  // path-steps that need not be walked
    std::vector<std::size_t> left_;  // trades whose paths are still to be walked
    std::vector<std::optional<walked_trade>> walked_;
};

void add_kernels(const cuda::gpu_facts& of, run_manifest& told);

// Seats trades in the programs that GPUs walk them by, for the walk to find.
void seat_ahead(std::span<const planned> plans, const settled& run, ready_on_gpus& into);

}  // namespace tilewalk::verbs
